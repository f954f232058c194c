# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For files that print figures: their points say only that they were measured.

median()
{
	sort -n | awk '{ v[NR] = $1 } END { if (!NR) exit 1
		print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# figure NAME VALUE UNIT [TARGET]
figure()
{
	echo "# FIGURE $(uname -r): $1: $2 $3${4:+ (target $4)}"
}

ratio()
{
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'
}

# measured WHAT CMD...: its output stays visible
measured()
{
	local what=$1

	shift
	if "$@"; then
		pass "$what"
	else
		fail "$what"
	fi
}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What rclinkd does without the kernel module: it reads its configuration, and reports
# what is wrong in it.
# hosts: 0
# timeout: 120
# eval expands its argument.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib.sh"

cd "$LIB_DIR/daemon/conf" || exit 1
tree=$LIB_DIR/..
out=$tree/build/daemon
daemon=$tree/tools/rclinkd/rclinkd
rclink=$tree/tools/rclink/rclink
mapfile -t bad < <(basename -s .conf -a bad-*.conf)

# rclinkd --check of a file in a folder of its own, with the test's key and pin
check_file()
{
	rm -rf "${out:?}/etc"
	mkdir -p "$out/etc/conf.d"
	sed -e "s|@KEY@|$out/key.pem|; s|@PIN@|$pin|" "$1" \
		>"$out/etc/rclink.conf"
	(cd "$out/etc" && "$daemon" --check --config rclink.conf) 2>&1
}

# NAME.says has the messages that are expected for NAME.conf.
says_so()
{
	local said status

	said=$(check_file "$1.conf")
	status=$?
	diff -u "$1.says" <(printf '%s\n' "$said") && [ "$status" -eq 1 ]
}

# The example with all its settings enabled, except one that excludes another one.
example()
{
	sed 's|^#\([[a-z]\)|\1|; s|/etc/rclink/key.pem|@KEY@|
		s|^pin = .*|pin = @PIN@|; s|rdma|root|; /^listen = none/d' \
		"$tree/tools/rclinkd/rclink.conf" >"$out/example.conf"
	[ "$(grep -c '^\[Link' "$out/example.conf")" -eq 2 ] &&
		[ "$(grep -c '^\[Group' "$out/example.conf")" -eq 2 ] &&
		check_file "$out/example.conf"
}

with_more()
{
	check_file good.conf && cp good-more.conf "$out/etc/conf.d/more.conf" &&
		(cd "$out/etc" && ! "$daemon" --check --config rclink.conf \
			2>"$out/said") &&
		grep '^conf.d/more.conf:2: there is a \[Link a\] at rclink.conf:' \
			"$out/said"
}

# A FIFO as a file in conf.d: rclinkd must not wait for a writer.
with_fifo()
{
	check_file good.conf && mkfifo "$out/etc/conf.d/more.conf" &&
		(cd "$out/etc" && ! timeout 10 "$daemon" --check \
			--config rclink.conf 2>"$out/said") &&
		grep '^conf.d/more.conf: this is not a regular file' "$out/said"
}

# A last line of 512 MiB, for which there is no memory.
without_end()
{
	local file=$out/etc/rclink.conf line

	check_file good.conf && line=$(($(wc -l <"$file") + 1)) &&
		truncate -s 512M "$file" || return
	(cd "$out/etc" && ulimit -v 262144 &&
		! "$daemon" --check --config rclink.conf 2>"$out/said") &&
		grep "^rclink.conf:$line: this line has" "$out/said"
}

# An escape character as a section, in a file whose name has a newline.
unprintable()
{
	check_file good.conf &&
		printf '[\033]\n' >"$out/etc/conf.d/"$'a\n<3>b.conf' &&
		(cd "$out/etc" && ! "$daemon" --check --config rclink.conf \
			2>"$out/said") &&
		grep -F 'conf.d/a?<3>b.conf:1: there is no section [?]' "$out/said"
}

# blames FILE TEXT: rclinkd refuses FILE, and TEXT is in what it says
blames()
{
	local said status

	said=$(check_file "$1")
	status=$?
	echo "$said"
	[ "$status" -eq 1 ] && grep -q -e "$2" <<<"$said"
}

# A folder whose name has pattern characters, and another one that this pattern matches.
with_more_oddly()
{
	local odd="$out/odd [ab]*?\\c" other="$out/odd axxc"

	rm -rf "$odd" "$other"
	mkdir -p "$odd/conf.d" "$other/conf.d"
	check_file good.conf && cp "$out/etc/rclink.conf" "$odd" &&
		echo 'nosuch' >"$other/conf.d/more.conf" &&
		"$daemon" --check --config "$odd/rclink.conf" &&
		cp good-more.conf "$odd/conf.d/more.conf" &&
		! "$daemon" --check --config "$odd/rclink.conf" 2>"$out/said" &&
		grep -F "$odd/conf.d/more.conf:2: there is a [Link a] at" "$out/said"
}

# key_is MODE: a key file with that mode is refused
key_is()
{
	chmod "$1" "$out/key.pem"
	blames good.conf '^rclink.conf:3: .*key.pem'
}

no_key()
{
	sed 's|@KEY@|/nowhere/key.pem|' good.conf >"$out/no-key.conf"
	blames "$out/no-key.conf" '^rclink.conf:3: .*/nowhere/key.pem'
}

no_ca()
{
	printf '[Host]\nkey = @KEY@\nca = /nowhere/ca.pem\n' >"$out/no-ca.conf"
	blames "$out/no-ca.conf" \
		'^rclink.conf:3: cannot use the CA in /nowhere/ca.pem: it does not exist$'
}

no_metrics()
{
	local path

	for path in /run/rclinkd/ /run/rclinkd /tmp /; do
		printf '[Host]\nkey = @KEY@\nmetrics = %s\n' "$path" \
			>"$out/no-metrics.conf"
		blames "$out/no-metrics.conf" \
			"^rclink.conf:3: metrics: $path is a directory" || return
	done
}

# Of the file of no_ca; the daemon ends before it asks the module for anything.
start_says()
{
	local said status

	said=$(cd "$out/etc" && timeout 10 "$daemon" --config rclink.conf 2>&1)
	status=$?
	echo "$said"
	[ "$status" -eq 1 ] &&
		grep -q 'rclink.conf:3: cannot use the CA in /nowhere/ca.pem' <<<"$said" &&
		grep -q 'cannot start' <<<"$said"
}

usual_key()
{
	printf '[Link a]\npin = %s\n' "$pin" >"$out/usual-key.conf"
	blames "$out/usual-key.conf" \
		'^rclink.conf: no key is named, so it is the usual one: /etc/rclink/key.pem does not exist'
}

# compared FILE FUNCTION: print the words that FUNCTION compares its input with
compared()
{
	sed -n "/^[a-z].*\<$2(/,/^}/p" "$tree/tools/$1" |
		grep -oP 'strcmp\((key|word), "\K[a-z-]+'
}

# The names of the settings in a link's policy.
policies()
{
	sed -n 's/^\t\[RCL_P_\([A-Z_]*\)\] = .*/\1/p' "$tree/kmod/policy.c" |
		tr A-Z_ a-z-
}

# in_section PAGE SECTION: stdin has several words, and SECTION a paragraph for each
in_section()
{
	local words missing

	words=$(sort -u)
	missing=$(comm -23 <(echo "$words") <(
		sed -n "/^\.SH $2\$/,/^\.SH /p" "$tree/tools/man/$1" |
			awk '/^\.TP$/ || /^\(or$/ { getline; print }' |
			tr -d "\\\\" | grep -oE '[a-z-]+' | sort -u))
	[ -z "$missing" ] || echo "not in $2 of $1: $missing"
	[ "$(wc -l <<<"$words")" -ge 5 ] && [ -z "$missing" ]
}

# Every key and option is in its manual page.
documented()
{
	local word status=0

	compared rclinkd/conf.c set_host | in_section rclink.conf.5 HOST || status=1
	compared rclinkd/conf.c set_link | in_section rclink.conf.5 LINK || status=1
	{
		compared lib/group_setting.c rcl_group_setting_parse
		compared lib/group_setting.c is_access
	} | in_section rclink.conf.5 GROUP || status=1
	policies | in_section rclink.8 LINKS || status=1
	for word in --config --check --help --version; do
		tr -d "\\\\" <"$tree/tools/man/rclinkd.8" | grep -q -e "$word" &&
			continue
		echo "$word is not in rclinkd(8)"
		status=1
	done
	return "$status"
}

# systemd-analyze also complains of units that this one depends on, and its status is 0
# when it merely ignores a setting. So no line of it may name this unit.
verified()
{
	local said status

	said=$(systemd-analyze verify --man=no "$1" 2>&1)
	status=$?
	echo "$said"
	[ "$status" -eq 0 ] && ! grep -q 'rclinkd.service' <<<"$said"
}

# A unit with a wrong setting must be found out.
unit_is_good()
{
	local dir=$out/unit

	mkdir -p "$dir/bad"
	sed "s|@PREFIX@/sbin/rclinkd|/bin/true|" \
		"$tree/tools/systemd/rclinkd.service" >"$dir/rclinkd.service"
	sed 's/^NoNewPrivileges=/No&/' "$dir/rclinkd.service" \
		>"$dir/bad/rclinkd.service"
	verified "$dir/rclinkd.service" && ! verified "$dir/bad/rclinkd.service"
}

# systemd rates, out of 100, how much of the system a unit is exposed to.
unit_is_confined()
{
	local says=$out/unit/security status

	systemd-analyze security --offline=true --threshold=20 --no-pager \
		"$out/unit/rclinkd.service" >"$says"
	status=$?
	tail -n 1 "$says" | sed 's/^/# /' >&3
	[ "$status" -eq 0 ] || grep -v '✓' "$says"
	return "$status"
}

to_full_disk()
{
	"$daemon" "$1" >/dev/full
}

# With fewer files the daemon is not even loaded, and with more it may run.
few_files()
{
	local files status

	check_file good.conf || return
	for files in 4 5 6 7; do
		NOTIFY_SOCKET=/nowhere prlimit --nofile=$files "$daemon" \
			--config "$out/etc/rclink.conf" 3>&-
		status=$?
		[ "$status" -eq 1 ] && continue
		echo "with $files files: $status"
		return 1
	done
}

plan $((27 + ${#bad[@]}))
exec 3>&1
mkdir -p "$out"
rm -f "$out/key.pem"
pin=$("$rclink" genkey "$out/key.pem") || bail "no key"
check "--help works" "$daemon" --help
check "--version works" "$daemon" --version
for option in --help --version; do
	refuse 1 "$option that cannot be written is no success" \
		'^rclinkd: cannot write' to_full_disk $option
done
refuse 2 "an option that is none is refused" 'bad option --nosuch' "$daemon" --nosuch
refuse 2 "a word is refused" 'no words' "$daemon" --check x
refuse 2 "an option without its file is refused" 'needs a FILE' "$daemon" --config
refuse 1 "a file that is not there is refused" '^/nowhere: cannot read' \
	"$daemon" --check --config /nowhere
check "a good configuration is silent" eval '[ -z "$(check_file good.conf)" ]'
check "the example is good" example
check "conf.d is read, too" with_more
check "also in a folder whose name is a pattern" with_more_oddly
check "a FIFO in it is refused" with_fifo
check "a line without an end is refused" without_end
check "what is no text is not said raw" unprintable
for file in "${bad[@]}"; do
	check "what is said of $file.conf" says_so "$file"
done
check "a key that others can read is refused" key_is 644
chmod 600 "$out/key.pem"
check "a key that is not there is refused" no_key
check "metrics that are a directory are refused" no_metrics
check "a CA that is not there is refused" no_ca
check "and a daemon that starts says so in the same words" start_says
if [ -e /etc/rclink/key.pem ]; then
	skip "the usual key is not there, and no line is blamed"
else
	check "the usual key is not there, and no line is blamed" usual_key
fi
check "every key and option is documented" documented
if command -v systemd-analyze >/dev/null; then
	check "systemd takes the unit" unit_is_good
	check "systemd finds it well confined" unit_is_confined
else
	skip "systemd takes the unit"
	skip "systemd finds it well confined"
fi
refuse 1 "a configuration that cannot be read ends the daemon" \
	'^<3>/nowhere: cannot read' "$daemon" --config /nowhere
refuse 78 "systemd is told not to try that again" \
	'^<3>/nowhere: cannot read' \
	env NOTIFY_SOCKET=/nowhere "$daemon" --config /nowhere
check "but to try again when files cannot be opened" few_files
finish

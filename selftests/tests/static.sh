#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What can be checked in the source without running it.
# hosts: 0
# timeout: 1200
. "$(dirname "$0")/../lib.sh"

cd "$LIB_DIR/.." || exit 1
source=$(selftests/vm/source) || bail "no kernel source"
static=selftests/static

# Advice of checkpatch that is for kernel code only: its types, helpers and macros.
# CAMELCASE: the names of OpenSSL's functions are not ours.
kernel_only=FILE_PATH_CHANGES,CAMELCASE,PREFER_KERNEL_TYPES,STRCPY,STRLCPY
kernel_only+=,STRNCPY,SYMBOLIC_PERMS,ARRAY_SIZE,PREFER_DEFINED_ATTRIBUTE_MACRO
# Macros of a test end it where something is wrong.
kernel_only+=,MACRO_WITH_FLOW_CONTROL

# Files written by hand, not by the netlink generator.
mapfile -t kernel < <(find kmod -name '*.[ch]' ! -path '*/uapi/*' \
	! -name 'nl-gen.*' ! -name '*.mod.c')
mapfile -t plain < <(printf '%s\n' "${kernel[@]}" |
	grep -vE '/(trace|compat)\.h$')
mapfile -t user < <(find tools selftests -name '*.[ch]' ! -name compat.h)
mapfile -t scripts < <(grep -rlE '^#!/bin/((ba)?sh|busybox sh)' selftests .ci)

# checkpatch.pl looks at each file by itself, for 90 s in all, so the cache has a file
# named after what it had nothing to say of: the content, and the kind of file.
checkpatch()
{
	local file sum silent
	local -a files=() sums=() options=(--strict --no-tree --terse --no-summary
		--show-types --max-line-length=80 --ignore "$1")

	shift
	sum=$(cat "$source"/scripts/{checkpatch.pl,spelling.txt,const_structs.checkpatch} \
		- <<<"${options[*]}" | sha256sum)
	silent=${RCLINK_CACHE:-$HOME/.cache/rclink}/checkpatch/${sum:0:16}
	mkdir -p "$silent" build/checkpatch
	while read -r sum file; do
		[ ! -e "$silent/$sum.${file##*.}" ] || continue
		files+=("$file")
		sums+=("$silent/$sum.${file##*.}")
	done < <(sha256sum "${@/#/$PWD/}")
	[ ${#files[@]} -gt 0 ] || return 0
	# It leaves a file in the directory that it runs in.
	cd build/checkpatch || return
	perl "$source/scripts/checkpatch.pl" "${options[@]}" -f "${files[@]}" &&
		touch "${sums[@]}"
}

sparse_is_silent()
{
	local output

	output=$(selftests/vm/module "$1" C=2 2>&1) || return
	! grep -E 'warning:|error:' <<<"$output"
}

kernel_doc()
{
	local said

	[ $# -gt 0 ] || return
	said=$("$source/scripts/kernel-doc" -none -Wall "$@" 2>&1) || {
		tail -n 20 <<<"$said"
		return 1
	}
	! grep -iE 'warning:|error:' <<<"$said"
}

# on_both WORD...: these environments have both kernels, or are for no guest
on_both()
{
	[ $# -gt 0 ] || return 0
	case " $* " in
	*" all "* | *" none "* | *" host-all "*) ;;
	*) [[ " $* " == *" 6.1"[\ -]* && " $* " == *" 6.12"[\ -]* ]] ;;
	esac
}

# A file never runs in an environment that vm/suite does not have.
headers_name_environments()
{
	local file word bad=0 words

	for file in selftests/tests/*.sh; do
		read -ra words < <(sed -n 's/^# kernels: *//p' "$file")
		on_both "${words[@]}" || grep -q '^# only: .' "$file" || {
			echo "$file: not on both kernels, and no line of only"
			bad=1
		}
		for word in "${words[@]}"; do
			case "${word%-all}" in
			6.1 | 6.12 | mixed | mixed-back | debug | host) ;;
			6.1-ib | 6.12-ib | debug-ib) ;;
			*) [[ $word =~ ^(all|none)$ ]] || {
				echo "$file: no environment is $word"
				bad=1
			} ;;
			esac
		done
		grep -qx '# hosts: [0-3]' "$file" || {
			echo "$file: no line of hosts"
			bad=1
		}
	done
	return "$bad"
}

# With hardware, no file takes ports or addresses away by which the hosts are reached.
files_spare_hardware()
{
	local file bad=0

	for file in selftests/tests/*.sh; do
		grep -v '^#' "$file" | grep -qE '\<(eth0|lab_(dev|gone|power))\>' ||
			continue
		grep -qE -e '^# (lab: .|hosts: 0)' \
			-e '(RCLINK_DEV|RCL_CONTROL|lab_power).* \|\| skip_all' \
			-e '^if \[ -n "\$\{RCLINK_DEV' \
			-e '^	skip_all "needs (two|three)' "$file" || {
			echo "$file: neither a line of lab, nor is it skipped"
			bad=1
		}
	done
	return "$bad"
}

hardware_is_spared()
{
	printf '%s\n' '# hosts: 1' '# lab: would do harm' \
		". ${LIB_DIR@Q}/lib.sh" 'exit 0' >build/spared.sh
	RCLINK_DEV=none bash build/spared.sh | grep 'it would do harm'
	[ "${PIPESTATUS[0]}" = "$KSFT_SKIP" ]
}

objects_of()
{
	local release

	read -r release _ < <(selftests/vm/headers 6.12)
	echo "build/$release/kmod"
}

# Each file that a test sources, directly or by way of a library, is in the package.
# (make and sed expand what is quoted.)
# shellcheck disable=SC2016
package_is_whole()
{
	local -a has
	local name missing=0

	read -ra has < <(make -s -C selftests/tests KSRC="$source" \
		--eval='.PHONY: has' --eval='has: ; @echo $(TEST_INCLUDES)' has)
	while read -r name; do
		[[ " ${has[*]} " != *" ../$name "* ]] || continue
		echo "not in TEST_INCLUDES of selftests/tests/Makefile: $name"
		missing=1
	done < <(sed -nE 's/^[[:space:]]*\. "\$LIB_DIR\/(.*)"$/\1/p' \
		selftests/tests/*.sh selftests/*/lib.sh selftests/lib.sh | sort -u)
	[ "${#has[@]}" -gt 0 ] && [ "$missing" = 0 ]
}

# The test module of selftests/kapi uses each function that is exported to modules, and
# not only in a comment.
kapi_is_tried()
{
	local name missing=0 all=0

	while read -r name; do
		all=$((all + 1))
		grep -qE "^[^*]*\<$name\(" selftests/kapi/*.c && continue
		echo "not tried: $name"
		missing=1
	done < <(sed -n 's/^EXPORT_SYMBOL_GPL(\(.*\));$/\1/p' kmod/*.c)
	[ "$all" -gt 0 ] && [ "$missing" = 0 ]
}

# kernel-doc does not report a function that has no comment at all.
kapi_is_documented()
{
	local name missing=0 all=0

	while read -r name; do
		all=$((all + 1))
		grep -qE "^ \* $name(\(\))? - " kmod/*.c kmod/include/rclink.h &&
			continue
		echo "no kernel-doc: $name"
		missing=1
	done < <(sed -n 's/^EXPORT_SYMBOL_GPL(\(.*\));$/\1/p' kmod/*.c
		sed -nE 's/^static inline .*\<(rclink_\w+)\(.*/\1/p' \
			kmod/include/rclink.h)
	! grep -nE '^EXPORT_SYMBOL(_NS)?\(' kmod/*.c &&
		[ "$all" -gt 0 ] && [ "$missing" = 0 ]
}

# Also what is done in a header elsewhere: who has no compiler calls it, too.
library_has_its_manual()
{
	local manual library

	manual=$(sed -n '/^.SH SYNOPSIS/,/^.SH DESCRIPTION/p' \
		tools/man/librclink.3 | grep -oE '\brclink_\w+\(' |
		tr -d '(' | sort)
	library=$(nm -D --defined-only tools/librclink/librclink.so.0 |
		sed -n 's/.* T \(rclink_[a-z_]*\)@.*/\1/p' | sort)
	[ -n "$manual" ] && diff <(echo "$manual") <(echo "$library")
}

# All but Documentation/netlink, whose generator writes roles of Sphinx.
documents_parse()
{
	local file status=0

	for file in Documentation/*.rst; do
		/usr/bin/python3 -m docutils --report=2 --exit-status=2 \
			--writer=pseudoxml "$file" /dev/null || status=1
	done
	return "$status"
}

# Plain counters are documented by the rule that names them after those of JSON.
metrics_are_documented()
{
	local name missing=0 all=0

	while read -r name; do
		all=$((all + 1))
		grep -qw "$name" tools/man/rclink.8 tools/man/rclinkd.8 && continue
		echo "not documented: $name"
		missing=1
	done < <(grep -hoE '"rclinkd?_[a-z_]+"' tools/lib/metrics.c \
		tools/rclinkd/*.c | tr -d '"' | sort -u)
	[ "$all" -gt 0 ] && [ "$missing" = 0 ]
}

plan 25
# Messages to users are not split; a macro that is a loop uses its arguments twice.
check "checkpatch has nothing to say of kmod" checkpatch \
	FILE_PATH_CHANGES,LONG_LINE_STRING,MACRO_ARG_REUSE \
	"${plain[@]}"
# The tracing macros dictate the form of trace.h; compat.h is the one place for kernel
# versions.
check "checkpatch has nothing to say of trace.h and compat.h" checkpatch \
	FILE_PATH_CHANGES,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE,\
LINUX_VERSION_CODE,CONSTANT_COMPARISON kmod/trace.h \
	kmod/compat.h selftests/rdmasim/compat.h
check "checkpatch has nothing to say of tools and selftests" \
	checkpatch "$kernel_only" "${user[@]}"
check "shellcheck has nothing to say" shellcheck -e SC1091 "${scripts[@]}" \
	selftests/lib.sh
for release in 6.1 6.12; do
	check "the module builds for $release at W=1" \
		selftests/vm/module "$release"
	check "sparse is silent on $release" sparse_is_silent "$release"
	check "every header compiles alone on $release" \
		"$static/headers" "$release"
done
check "kernel-doc is complete" kernel_doc "${kernel[@]}" "${user[@]}"
check "docutils has nothing to say of the documents" documents_parse
check "no circle among the objects of kmod" "$static/cycles" "$(objects_of)"
check "no circle among the objects of tools" "$static/cycles" tools
check "no file or function is too long" "$static/sizes" "${kernel[@]}" \
	"${user[@]}"
check "each lock is in the table of locks" "$static/locks"
check "what the test files source is in their package" package_is_whole
check "each call for kernel modules is tried" kapi_is_tried
check "and documented, and for modules under the GPL" kapi_is_documented
check "each metric is in a manual" metrics_are_documented
check "the library has the functions of its manual, and no others" \
	library_has_its_manual
check "each file is for environments that there are" headers_name_environments
check "and without the lab, takes no network away" files_spare_hardware
check "because it is skipped then" hardware_is_spared
check "what the netlink specification generates is current" \
	"$static/netlink-gen" --check
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make install` installs, in a directory of its own, without the module, whose
# build takes minutes: is it complete, does it work from there, and does `make
# uninstall` remove it? Of DKMS and other programs run as root, only the arguments are
# checked.
# hosts: 0
# timeout: 180
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib.sh"

cd "$LIB_DIR/.." || exit 1
out=$PWD/build/install
root=$out/root
prefix=$root/usr/local
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
expected='bin/rclink
include/linux/rclink.h
include/linux/rclink_dev.h
include/rclink.h
include/rclink_share.h
lib/librclink.a
lib/librclink.so
lib/librclink.so.0
lib/pkgconfig/librclink.pc
lib/systemd/system/rclinkd.service
lib/udev/rules.d/60-rclink.rules
sbin/rclinkd
share/bash-completion/completions/rclink
share/bash-completion/completions/rclinkd
share/doc/rclink/61-rclink-uverbs.rules
share/doc/rclink/api.rst
share/doc/rclink/architecture.rst
share/doc/rclink/channels.rst
share/doc/rclink/echo.c
share/doc/rclink/example.c
share/doc/rclink/figures.rst
share/doc/rclink/groups.rst
share/doc/rclink/netlink/rclink.rst
share/doc/rclink/netlink/specs/rclink.yaml
share/doc/rclink/operations.rst
share/doc/rclink/protocol.rst
share/doc/rclink/rclink.conf
share/doc/rclink/roadmap.md
share/doc/rclink/security.rst
share/doc/rclink/testing.rst
share/man/man3/librclink.3
share/man/man5/rclink.conf.5
share/man/man8/rclink.8
share/man/man8/rclinkd.8'

# makes TARGET [ARGUMENTS...]: runs make, which builds no tools and installs no packages
makes()
{
	make -s -o tools -o setup-headers "$@"
}

# files DIR: everything in DIR but directories
files()
{
	(cd "$1" && find . ! -type d -printf '%P\n' | LC_ALL=C sort)
}

# Installs over a file of an older version, which must be gone then.
installs()
{
	rm -rf "$root"
	mkdir -p "$prefix/sbin" && touch "$prefix/sbin/rclink" &&
		makes install-tools DESTDIR="$root" &&
		diff <(echo "$expected") <(files "$prefix") &&
		[ "$(files "$root" | wc -l)" -eq "$(wc -l <<<"$expected")" ]
}

# The directory of the configuration is there, and closed to other users.
has_place()
{
	[ "$(stat -c %a "$root/etc/rclink")" = 700 ] &&
		[ -d "$root/etc/rclink/conf.d" ]
}

rule_as_documented()
{
	local doc=$prefix/share/doc/rclink

	grep -Fx "    $(grep -v '^#' "$doc/61-rclink-uverbs.rules")" \
		"$doc/security.rst"
}

they_run()
{
	"$prefix/bin/rclink" --version | grep -x "rclink $version" &&
		"$prefix/sbin/rclinkd" --version | grep -x "rclinkd $version"
}

# lib CC ARGUMENTS...: runs CC, with pkg-config alone to tell where the library is
lib()
{
	local flags cc=$1
	local -x PKG_CONFIG_PATH=$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root

	shift
	flags=$(pkg-config --cflags --libs librclink) || return
	# shellcheck disable=SC2086
	"$cc" -Wall -Wextra -pedantic -Werror "$@" $flags
}

example_builds()
{
	[ "$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig \
		pkg-config --modversion librclink)" = "$version" ] &&
		lib cc -o "$out/example" "$prefix/share/doc/rclink/example.c" &&
		readelf -d "$out/example" | grep 'NEEDED.*librclink\.so\.0' &&
		LD_LIBRARY_PATH=$prefix/lib "$out/example" 2>&1 |
			grep '^usage: example'
}

headers_alone()
{
	local header

	for header in rclink.h linux/rclink.h linux/rclink_dev.h; do
		lib "$1" -x "$2" -fsyntax-only -include "$header" \
			/dev/null || return
	done
}

# Verifies the unit with the path that its program has here. The output is checked for
# complaints of this unit: they leave the status 0 where a line is only ignored, and
# units that it depends on may have some, too.
unit_finds_all()
{
	local said status

	mkdir -p "$out/unit"
	sed "s|/usr/local|$prefix|" \
		"$prefix/lib/systemd/system/rclinkd.service" \
		>"$out/unit/rclinkd.service"
	grep "^ExecStart=$prefix/sbin/rclinkd$" "$out/unit/rclinkd.service" || return
	said=$(systemd-analyze verify --man=no "$out/unit/rclinkd.service" 2>&1)
	status=$?
	echo "$said"
	[ "$status" -eq 0 ] && ! grep -q 'rclinkd.service' <<<"$said"
}

completes()
{
	local name

	for name in rclink rclinkd; do
		bash -c '. "$0" && complete -p "$1"' \
			"$prefix/share/bash-completion/completions/$name" \
			"$name" || return
	done
}

uninstalls()
{
	makes uninstall DESTDIR="$root" && [ -z "$(files "$root")" ] &&
		[ ! -e "$prefix/share/doc/rclink" ] && [ ! -e "$root/etc/rclink" ]
}

no_headers()
{
	! makes install DESTDIR="$out/none" KVER=0.0.0-none 2>"$out/said" &&
		grep 'no headers of 0.0.0-none: install' "$out/said" &&
		grep 'KVER=RELEASE' "$out/said" && [ ! -e "$out/none" ]
}

# apart TARGET [RELEASE]: runs make with DKMS, over an older module; a script that
# records its arguments stands in for what make runs as root. DKMS has this version for
# 6.1 and 6.2, an older one for 6.2 and for the release OLD, if set, and one that was
# never built; 6.3 has no headers.
apart()
{
	local name

	rm -rf "$out/dkms"
	mkdir -p "$out/dkms/fake" "$out/dkms/src/6.1" "$out/dkms/rclink-0.0.1" \
		"$out/dkms/modules/6.1/updates" \
		"$out/dkms/modules"/6.{0,1,2}/build "$out/dkms/modules/6.3"
	touch "$out/dkms/src/6.1/Module.symvers" \
		"$out/dkms/modules/6.1/updates/rclink.ko"
	cat >"$out/dkms/fake/dkms" <<-'EOF_DKMS'
		#!/bin/sh
		echo "${0##*/} $*" >>"$RAN"
		case "${0##*/} $1" in
		"dkms status")
			echo "rclink/0.0.0: added"
			for kver in 6.2 $OLD; do
				echo "rclink/0.0.1, $kver, x86_64: built"
			done
			for kver in 6.1 6.2; do
				echo "rclink/$VERSION, $kver, x86_64: installed (WARNING! Old)"
			done ;;
		"dkms build" | "dkms remove")
			case " $FAILS " in *" ${*##* } "*) exit 10 ;; esac ;;
		esac
	EOF_DKMS
	chmod +x "$out/dkms/fake/dkms"
	for name in depmod ldconfig groupadd systemctl; do
		ln -s dkms "$out/dkms/fake/$name"
	done
	rm -f "$out/ran"
	RAN=$out/ran FAILS=${FAILS:-} OLD=${OLD:-} VERSION=$version PATH=$out/dkms/fake:$PATH \
		makes -o check-headers "$1" KVER="${2:-6.1}" \
		PREFIX="$out/dkms/usr" ETC="$out/dkms/etc" \
		SOURCE="$out/dkms/src" MODULES="$out/dkms/modules" \
		2>"$out/said"
}

# kept: nothing has changed, and DKMS was only asked for its status and trial builds
kept()
{
	[ -e "$out/dkms/src/6.1/Module.symvers" ] &&
		[ -e "$out/dkms/modules/6.1/updates/rclink.ko" ] &&
		! grep -v -e '^dkms status ' -e '^dkms build --dkmstree' \
			"$out/ran"
}

# Each release that DKMS knows is built again; the module that an installation without
# DKMS left is removed, as it would be loaded instead.
dkms_again()
{
	local own="--dkmstree $PWD/build/dkms/tree --sourcetree $PWD/build/dkms"

	apart install 6.0 && [ ! -e "$out/dkms/src/6.1" ] &&
		[ ! -e "$out/dkms/rclink-0.0.1" ] &&
		[ ! -e "$out/dkms/modules/6.1/updates" ] &&
		(cd "$out/dkms/src" && ls Kbuild dkms.conf dkms.mk kmod/main.c) &&
		diff <(grep dkms "$out/ran") <(
			echo "dkms status -m rclink"
			echo "dkms status -m rclink"
			for kver in 6.0 6.1 6.2; do
				echo "dkms build $own rclink/$version -k $kver"
			done
			for kver in 6.0 6.1 6.2; do
				echo "dkms build --force rclink/$version -k $kver"
				echo "dkms install --force rclink/$version -k $kver"
			done
			echo "dkms remove rclink/0.0.0 --all"
			echo "dkms remove rclink/0.0.1 --all") &&
		grep -x 'depmod 6.1' "$out/ran" && grep ldconfig "$out/ran"
}

# A version that a kernel keeps using stays known to DKMS.
dkms_unbuilt()
{
	OLD=6.3
	apart install && [ -e "$out/dkms/rclink-0.0.1" ] &&
		grep '6.3/build: it keeps the module' "$out/said" &&
		! grep 'dkms remove' "$out/ran" || return
	FAILS=6.1
	! apart install && kept || return
	FAILS=6.2
	apart install && grep '^6.2 keeps the module that it has' "$out/said" &&
		! grep -e '--force .* 6.2$' "$out/ran" &&
		grep -x "dkms install --force rclink/$version -k 6.1" "$out/ran" &&
		FAILS='' || return
	! apart install 6.3 && kept && grep '6.3/build: .*linux-headers-6.3)' \
		"$out/said"
}

dkms_removed()
{
	FAILS=--all
	apart uninstall && grep 'DKMS may still have rclink/0.0.0' "$out/said" &&
		FAILS='' || return
	apart uninstall && [ -z "$(files "$out/dkms/modules")" ] &&
		[ ! -e "$out/dkms/src" ] && [ ! -e "$out/dkms/rclink-0.0.1" ] &&
		diff <(grep remove "$out/ran") <(
			for old in 0.0.0 0.0.1 "$version"; do
				echo "dkms remove rclink/$old --all"
			done)
}

plan 14
rm -rf "$out"
mkdir -p "$out"
make -s -C tools || bail "the tools do not build"
check "what is installed is all, and nothing else" installs
check "there is a place for the configuration" has_place
check "the rule for other device nodes is the documented one" \
	rule_as_documented
check "the programs run from there" they_run
check "the example builds by pkg-config alone, and finds the library" \
	example_builds
check "each header of it compiles alone in C" headers_alone cc c
if command -v c++ >/dev/null; then
	check "and in C++" headers_alone c++ c++
else
	skip "and in C++: there is no c++"
fi
if command -v systemd-analyze >/dev/null; then
	check "the unit finds its program" unit_finds_all
else
	skip "the unit finds its program: there is no systemd-analyze"
fi
check "both programs have their completion" completes
check "all of it is uninstalled" uninstalls
check "without headers nothing is built, and it is said what to do" no_headers
check "DKMS builds again what it knows, and nothing else is loaded" dkms_again
check "what does not build, or has no headers, takes nothing away" dkms_unbuilt
check "DKMS is told to remove it" dkms_removed
finish

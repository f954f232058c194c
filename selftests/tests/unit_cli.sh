#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The command line tool as far as it works without a kernel module.
# hosts: 0
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/harness.sh"

cd "$LIB_DIR/unit" || exit 1
out=../../build/unit/cli
rclink=../../tools/rclink/rclink
man=../../tools/man/rclink.8
completion=../../tools/completion/rclink
key=$out/key.$$

commands()
{
	"$rclink" --help | sed -n 's/^  \([a-z]*\)  *.*/\1/p'
}

each_command_has_help()
{
	local command

	[ "$(commands | wc -l)" -ge 15 ] || return
	for command in $(commands); do
		"$rclink" "$command" --help |
			grep -q "^usage: rclink $command" || return
		"$rclink" "$command" -h >/dev/null || return
	done
}

each_verbs_command()
{
	local all command option

	all=$("$rclink" --verbs --help | sed -n 's/^  \([a-z]*\)  *.*/\1/p')
	[ "$(wc -w <<<"$all")" -ge 5 ] || return
	for command in $all; do
		"$rclink" --verbs "$command" --help |
			grep -q "^usage: rclink --verbs $command" || return
		tr -d "\\\\" <"$man" | grep -q -e "--verbs $command" || return
		for option in $("$rclink" --verbs "$command" --help |
			grep -oE -- '--[a-z-]+' | sort -u); do
			tr -d "\\\\" <"$man" | grep -qe "$option" || return
			grep -qe "$option" "$completion" || return
		done
	done
}

# each_option_is_in FILE: every long option of the help texts
each_option_is_in()
{
	local command option status=0

	for command in $(commands); do
		for option in $("$rclink" "$command" --help |
			grep -oE -- '--[a-z-]+' | sort -u); do
			tr -d "\\\\" <"$1" |
				grep -qE -e "$option([^a-z-]|$)" && continue
			echo "$command $option is not in $1"
			status=1
		done
	done
	return "$status"
}

# The tags of the manual page's tagged paragraphs.
paragraphs()
{
	grep -A 1 -E '^\.T[PQ]' "$man" | tr -d "\\\\"
}

# offered WORD...: completions of the last WORD, on a host that has one device, and
# where $named, if set, is the name of a device, a link, a group, and a user
# shellcheck disable=SC2016
offered()
{
	bash -c '. "$0"
		rclink()
		{
			[ "$1" != dev ] || echo "    \"device\": \"sim0\","
			[ -z "$named" ] || printf "    \"%s\": \"$named\",\n" device name
		}
		compgen()
		{
			if [[ $named && $1 == -[ug] ]]; then
				echo "$named"
			else
				builtin compgen "$@"
			fi
		}
		COMP_WORDS=(rclink "$@")
		COMP_CWORD=$#
		_rclink
		printf "%s\n" "${COMPREPLY[@]}"' "$completion" "$@"
}

# Completions of the first word.
completed()
{
	offered "" | sed 's/^/rclink /'
}

all_commands()
{
	commands
	"$rclink" --verbs --help | sed -n 's/^  \([a-z]*\)  *.*/--verbs \1/p'
}

# The completion offers no option that the command does not have.
options_are_known()
{
	local help option status=0
	local -a command

	while read -ra command; do
		help=$("$rclink" "${command[@]}" --help)
		[ "${command[*]}" != pingpong ] ||
			help+=$("$rclink" pingpong --stock --help)
		while read -r option; do
			[ "$option" != --help ] || continue
			grep -qE -e "$option([^a-z-]|$)" <<<"$help" && continue
			echo "no option of ${command[*]}: $option"
			status=1
		done < <(offered "${command[@]}" --)
	done < <(all_commands)
	return "$status"
}

# Without the module, or its key, a command fails with 1 once it has taken its words.
ops_are_taken()
{
	local op ops status=0
	local -a command

	while read -ra command; do
		ops=$(offered "${command[@]}" --op "")
		[ -n "$ops" ] || status=1
		for op in $ops; do
			timeout 10 "$rclink" "${command[@]}" --op "$op" >/dev/null
			[ $? -eq 1 ] && continue
			echo "not taken: ${command[*]} --op $op"
			status=1
		done
	done <<-END
		ping no.such
		bench no.such lat
		bench no.such bw
		bench no.such rate
		bench no.such attach
		--verbs ping no.such 192.0.2.1 --pin $pin --key $out/no.such
		--verbs echo no.such 192.0.2.1 --pin $pin --key $out/no.such
		--verbs bench no.such 192.0.2.1 lat --pin $pin --key $out/no.such
		--verbs bench no.such 192.0.2.1 bw --pin $pin --key $out/no.such
	END
	return "$status"
}

devices_are_offered()
{
	[ "$(offered dev "")" = sim0 ] && [ "$(offered pingpong l --dev "")" = sim0 ] &&
		[ "$(offered --verbs window "")" = sim0 ]
}

# What looks like a command in a name is not run, so it is not offered.
# shellcheck disable=SC2016
names_are_harmless()
{
	local status=0
	local -x named

	for named in '$(touch${IFS}'"$out/ran)" '`touch${IFS}'"$out/ran\`"; do
		rm -f "$out/ran"
		[ "$(offered dev "")" = sim0 ] || status=1
		[ -z "$(offered show "")" ] || status=1
		[ -z "$(offered group show "")" ] || status=1
		[ -z "$(offered add l owner "")" ] || status=1
		[ ! -e "$out/ran" ] || status=1
	done
	named=name.of-1_2:3@4
	[ "$(offered dev "")" = $'sim0\n'"$named" ] && [ "$(offered show "")" = "$named" ] &&
		[ "$(offered add l owner n)" = "$named" ] && return "$status"
}

# each_command_is_in CMD: CMD prints each command after `rclink`, as many of them are
# ordinary words
each_command_is_in()
{
	local command said status=0

	said=$("$1")
	for command in $(commands); do
		grep -qw "rclink $command" <<<"$said" && continue
		echo "$command is not among the $1"
		status=1
	done
	return "$status"
}

# refused TEXT ARGS...: `rclink ARGS` is refused as wrong usage, with TEXT
refused()
{
	local text=$1

	shift
	refuse 2 "refused as usage: rclink $*" "$text" "$rclink" "$@"
}

pins_agree()
{
	[ "$("$rclink" genkey "$key")" = "$("$rclink" pubkey "$key")" ] &&
		"$rclink" pubkey "$key" | grep -qE '^sha256:.{43}=$' &&
		[ "$(stat -c %a "$key")" = 600 ]
}

# The directory of the default key is made, whether the file is named or not.
# shellcheck disable=SC2016
advice_helps()
{
	unshare -rm sh -c 'mount -t tmpfs tmpfs /etc && "$0" "$@" &&
		[ "$(stat -c %a /etc/rclink)" = 700 ] &&
		[ -f /etc/rclink/key.pem ]' "$rclink" genkey "$@"
}

# -j may stand before the command.
json_first()
{
	diff <("$rclink" dev -j 2>&1) <("$rclink" -j dev 2>&1) &&
		"$rclink" --json ping --help | grep '^usage: rclink ping' &&
		diff <("$rclink" --help) <("$rclink" help)
}

help_to_full_disk()
{
	"$rclink" ping --help >/dev/full
}

# version_with [VERSION]: what --version prints if the loaded module has VERSION, or
# does not tell its own
# shellcheck disable=SC2016
version_with()
{
	unshare -rm sh -c 'mount -t tmpfs tmpfs /sys/module &&
		mkdir /sys/module/rclink && { [ -z "$1" ] ||
		echo "$1" >/sys/module/rclink/version; } && exec "$0" --version' \
		"$rclink" "${1-}"
}

tells_module()
{
	local own

	own=$("$rclink" -V | sed -n 's/^rclink //p')
	[ -n "$own" ] && version_with "$own" | grep -x "module $own" &&
		version_with 0.0.0 | grep '^module 0.0.0, another one; `rmmod' &&
		version_with | grep '^module of an unknown version, another'
}

completes()
{
	bash -c '. "$0" && complete -p rclink rclinkd' "$completion"
}

# no_pem TEXT OPTIONS...: a file in OPTIONS is refused with TEXT, as it is not PEM
no_pem()
{
	local text=$1

	shift
	refuse 1 "no PEM file: $*" "$text.* it must be PEM, as" \
		"$rclink" --verbs connect a 192.0.2.1 --key "$key" "$@"
}

plan $((88 + $(harness_points cli_*.c)))
make -s -f cli.mk all || bail "the unit tests do not build"
for source in cli_*.c; do
	harness "$source" "$out/${source%.c}"
done

check "--help works" "$rclink" --help
check "--version works" "$rclink" --version
if version_with 1 >/dev/null 2>&1; then
	check "--version tells the version of the module, too" tells_module
else
	skip "--version tells the version of the module, too"
fi
check "each command has help" each_command_has_help
check "each command is in the man page" each_command_is_in paragraphs
check "each option is in the man page" each_option_is_in "$man"
check "each command is in the completion" each_command_is_in completed
check "each option is in the completion" each_option_is_in "$completion"
check "the completion is for both programs" completes
check "no other option is in it" options_are_known
check "it has devices where one is named" devices_are_offered
check "no name that it has is run" names_are_harmless
check "genkey and pubkey print the same pin" pins_agree
if unshare -rm true 2>/dev/null; then
	check "genkey makes the directory of the default key" advice_helps
	check "and does when it is told the file" advice_helps \
		/etc/rclink/key.pem
else
	skip "genkey makes the directory of the default key"
	skip "and does when it is told the file"
fi
check "-j before a command is as after it, and help a command" json_first
refuse 1 "a key is not overwritten" "rclink pubkey $key" "$rclink" genkey "$key"

pin=$("$rclink" pubkey "$key")
check "each op in the completion is taken" ops_are_taken
refused "no command 'nosuch'" nosuch
refused '--nosuch' show --nosuch
refused 'bad option -x' show -x
refused 'bad option -x' show --json -xj
refused '--json takes no value' show --json=5
refused '--help takes no value' show --help=5
refused 'too many' show a b
refused 'missing' add
refused 'needs a value' add a mtu
refused "no 'nosuch'" add a nosuch 1
refused "no 'nosuch'" add a nosuch
refused 'twice' add a mtu 1024 mtu 1024
refused 'number' add a mtu 1k
refused 'port cannot be 0; say auto' add a port 0
refused 'mtu cannot be 0; say auto' set a mtu 0x0
refused 'no user' add a owner no.such.user
refused 'no group' set a group no.such.group
refused 'octal' add a mode rw-
refused 'missing' set a
refused 'missing' del
refused 'either --pin or --ca' connect a 192.0.2.1
refused 'either --pin or --ca' connect a 192.0.2.1 --pin "$pin" --ca x
refused 'belong together' connect a 192.0.2.1 --ca x
refused 'HOST' connect a '[::1' --pin "$pin"
refused 'a pin is' connect a 192.0.2.1 --pin sha256:x
refused 'from 1' connect a 192.0.2.1 --pin "$pin" --timeout 0
refused 'without a --peer' listen
refused 'NAME=PIN' listen --peer x
refused 'needs --ca' listen --peer x=dns:host.example
refused "no op" ping a --op nosuch
refused 'needs a value' ping a -c
refused 'either --json or --prometheus' stats -j -p
refused 'has no --interval' stats -p -i 1
refused 'above 0' stats -i 0
refused 'missing' send
refused 'no LINK\[:SERVICE\] of 1 to 31 bytes' recv a:
refused 'no LINK\[:SERVICE\] of 1 to 31 bytes' pingpong a:b:c
refused 'no LINK\[:SERVICE\] of 1 to 31 bytes' send \
	a:12345678901234567890123456789012
refused 'say lat, bw, rate or attach' bench a
refused 'one name' group why
refused 'one name' group why g h
refused 'one name, or none' group show g h
refused "not 'shew'" group shew g
refused 'from 0' pingpong a -s 1048577
refused 'from 1' pingpong a --iters 0
refused 'too many' send a b
refused 'a word missing of `rclink why NAME' why
refused 'a word missing' --verbs
refused "no command 'nosuch'" --verbs nosuch
refused 'it is .rclink dev --verbs.' --verbs dev
refused 'either --pin or --ca' --verbs connect a 192.0.2.1
refused 'without a --peer' --verbs listen
refused 'mtu must be' --verbs listen mtu 1000
refused 'say lat or bw' --verbs bench a 192.0.2.1 fast --pin "$pin"
refused "no one-sided op 'send'" --verbs bench -o send
refused "no op 'swap'" --verbs echo -o swap
refused 'no masked atomics' --verbs echo -o mfadd
refused 'to 65536' --verbs echo -s 65537
refused 'mtu must be' pingpong --stock -m 1000
refused 'see .rclink pingpong --stock --help' pingpong --stock --nosuch
refused 'show: too many' -j a b
refused "links of the module have 'mode'" --verbs listen mode 0600
refused "links of the module have 'recover'" \
	--verbs connect a 192.0.2.1 --pin "$pin" recover resume
refused 'one operation in flight' \
	--verbs bench a 192.0.2.1 lat -r 2 --pin "$pin"
no_pem 'cannot use the certificate cli.mk' --pin "$pin" --cert cli.mk
no_pem 'cannot use the CA in cli.mk' --ca cli.mk --name a.example
no_pem 'cannot use the CRL in cli.mk' --ca "$key" --name a.example --crl cli.mk
refuse 1 "a name is no address to listen on" 'give one of this host' \
	"$rclink" --verbs listen --peer a="$pin" --key "$key" --bind a.example
refuse 1 "help that cannot be written is no success" 'cannot write' \
	help_to_full_disk
check "each command of --verbs has help, and is in the man page" \
	each_verbs_command
rm -f "$key"
finish

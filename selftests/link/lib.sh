# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Links between two hosts through the command line tool. Sourced after lib.sh.

tool=$LIB_DIR/../tools/rclink/rclink
key=/tmp/rclink-test-key.pem
log=/tmp/rclink-test-listen
listener=''
said=/tmp/rclink-test-said

rclink()
{
	"$tool" "$@"
}

# as_nobody CMD...: runs CMD without any privileges
as_nobody()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

# Devices, module and identities on both hosts; sets pin1 and pin2.
link_setup()
{
	lab_device
	lab_module
	on_all rm -f "$key"
	pin1=$("$tool" genkey "$key") || bail "no key"
	[ "$RCL_HOSTS" -lt 2 ] || pin2=$(on 2 "$tool" genkey "$key") ||
		bail "no key on host 2"
}

# listens HOST: a process on HOST has the device open, and is about to listen
listens()
{
	on "$1" sh -c 'ls -l /proc/[0-9]*/fd 2>/dev/null | grep -q /dev/rclink'
}

# tells HOST TEXT...: `rclink why l` on HOST contains each TEXT
tells()
{
	local host=$1 story text

	shift
	story=$(on "$host" "$tool" why l) || return
	for text; do
		grep -q -e "$text" <<<"$story" && continue
		echo "not told: $text"
		echo "$story"
		return 1
	done
}

# link_listen NAME...: host 2 waits for host 1 on these links
link_listen()
{
	local name args=()

	for name; do
		args+=(--peer "$name=$pin1")
	done
	: >"$log"
	on 2 "$tool" listen --key "$key" "${args[@]}" >"$log" 2>&1 &
	listener=$!
	until_true 10 grep -q listening "$log" ||
		bail "the listener does not listen"
}

link_listen_end()
{
	[ -z "$listener" ] || kill "$listener" 2>/dev/null
	wait "$listener" 2>/dev/null
	listener=''
}

link_listen_again()
{
	link_listen_end
	link_listen "$@"
}

# complained_of_nothing HOST: its kernel has not complained so far; called before its
# power is cut, which loses the kernel's log
complained_of_nothing()
{
	on "$1" "$LIB_DIR/oracle" sofar "$TEST_NAME"
}

host_has_nothing()
{
	on "$1" "$LIB_DIR/oracle" end "$TEST_NAME" || return
	! on "$1" [ -e /sys/kernel/debug/kmemleak ] ||
		on "$1" "$LIB_DIR/oracle" leaks
}

# link_host_anew: one point, that the oracle finds nothing left on host 2; then prepares
# host 2 as link_setup does
link_host_anew()
{
	link_listen_end
	check "nothing is left on host 2" host_has_nothing 2
	link_host_begins
}

# link_host_back: boots host 2, whose power was cut, and prepares it as link_setup does
link_host_back()
{
	# The listener's host is gone, but `on` here has not been told.
	kill -KILL "$listener"
	wait "$listener" 2>/dev/null
	listener=''
	lab_power 2 on
	link_host_begins
}

link_host_begins()
{
	on 2 "$LIB_DIR/oracle" begin "$TEST_NAME"
	on 2 lab_dev
	on 2 "$LIB_DIR/vm/lab_load"
	on 2 rm -f "$key"
	pin2=$(on 2 "$tool" genkey "$key")
}

# link_dial NAME [OPTIONS]: host 1 brings NAME up
link_dial()
{
	local name=$1

	shift
	rclink connect "$name" "$RCL_PEER_IP" --key "$key" --pin "$pin2" \
		--timeout $((30 * RCL_SLOW)) "$@"
}

# An OFFER for l, from a host with a RoCE and an InfiniBand port.
offer='\0\0\0\x4b\0\2\0\2\x80\3\0\1l\x80\x12\0\x3e'
offer+='\2\3\0\0\4\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\xff\xff\xc0\0\2\x63\4rxe0'
offer+='\1\1\0\0\4\0\0\0\0\1\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x63\4sim0'

# A caller that, once admitted, sends only the OFFER, and leaves after a while.
link_offer()
{
	# shellcheck disable=SC2059
	{ printf "$offer"; sleep 8; } | openssl s_client -quiet -alpn rclink/1 \
		-connect "$RCL_PEER_IP:7185" -cert "$key" -key "$key" \
		>/dev/null 2>&1
}

# link_self [WORDS]: brings up the link a of this host to its link b
link_self()
{
	rclink add a loopback 1 "$@" && rclink add b loopback 1 "$@" &&
		link_self_dial
}

# link_across NEAR FAR: as link_self, with a on the device NEAR and b on the device FAR
link_across()
{
	rclink add a loopback 1 device "$1" &&
		rclink add b loopback 1 device "$2" && link_self_dial
}

# link_self_dial [NEAR FAR [PORT [OPTION]...]]: brings up a and b, or NEAR and FAR,
# which exist
link_self_dial()
{
	local near=${1:-a} far=${2:-b} port=${3:-7185} self status

	: >"$log"
	"$tool" listen --port "$port" --key "$key" --peer "$far=$pin1" --once 1 \
		>"$log" 2>&1 &
	self=$!
	until_true 10 grep -q listening "$log"
	rclink connect "$near" "127.0.0.1:$port" --key "$key" --pin "$pin1" \
		--peer-link "$far" --timeout $((20 * RCL_SLOW)) "${@:4}"
	status=$?
	[ "$status" -eq 0 ] || kill "$self" 2>/dev/null
	wait "$self"
	return "$status"
}

# rdma_deaf HOST: HOST receives no RDMA packets until rdma_hears, but all that an
# exchange needs: only RoCE packets, or frames of rdmasim, are dropped
rdma_deaf()
{
	if ! is_ib; then
		no_roce "$1" ip ipv6
		return
	fi
	on "$1" tc qdisc replace dev eth0 clsact &&
		on "$1" tc filter add dev eth0 ingress protocol 0x88b5 u32 \
			match u8 0 0 at 0 action drop
}

# no_large HOST: HOST receives no RoCE packets with 1024 bytes of data, which is the
# path MTU of the lab, until rdma_hears
no_large()
{
	local match='match ip dport 4791 0xffff match u16 0x0400 0xfc00 at 2'

	# In one go: some tests measure how soon the loss is noticed.
	on "$1" tc -batch - <<-END
		qdisc replace dev eth0 clsact
		filter add dev eth0 ingress protocol ip u32 $match action drop
	END
}

rdma_hears()
{
	on "$1" tc qdisc del dev eth0 clsact
}

# qps_match HOST: the device of HOST has connected the QPs of the link l as both ends
# say; one more may be connected to itself, which registers memory. (By chance, a QP of
# the pool may have the same number at both ends.)
# shellcheck disable=SC2016
qps_match()
{
	local host=$1 other=$((3 - $1)) a b

	# Not among gojq's arguments, where `on` would read what is piped to gojq.
	a=$(of "$host" l .local) && b=$(of "$other" l .local) || return
	on "$host" rdma resource show qp -j |
		gojq -e --argjson a "$a" --argjson b "$b" '
			[.[] | select(.comm == "rclink") | [.lqpn, .rqpn]] as $all |
			([$a.queue_pairs, $b.queue_pairs] | transpose |
				map(map(.qpn))) as $pairs |
			$pairs - $all == [] and ($all - $pairs |
				length <= 1 and all(.[0] == .[1]))' &&
		[ "$(of "$host" l '.remote | tojson')" = \
			"$(of "$other" l '.local | tojson')" ]
}

# holds WHAT CMD...: as check, but CMD runs in this shell, so that the processes it
# starts and the variables it sets remain
holds()
{
	local what=$1 status

	shift
	"$@" >"$said" 2>&1
	status=$?
	if [ $status -eq 0 ]; then
		pass "$what"
		return
	fi
	comment <"$said"
	echo "# status $status of: $*"
	fail "$what"
}

# link_add HOST NAME [WORDS]: adds a link. An emulated peer that shares its processor
# stands still for half a second, after which a device gives up by default. Without a
# timeout in WORDS, a QP therefore waits two seconds before it retransmits: rxe is not
# fit for retransmission (testing.rst).
link_add()
{
	local host=$1

	shift
	[[ " $* " == *" timeout "* ]] || set -- "$@" timeout 19
	on "$host" "$tool" add "$@"
}

# link_pair NAME [WORDS]: a link of that name on both hosts, up
link_pair()
{
	link_add 1 "$@" && link_add 2 "$@" && link_dial "$1"
}

# of HOST NAME FILTER: FILTER of `show NAME -j` on HOST
of()
{
	on "$1" "$tool" show "$2" -j | gojq -er ".[0] | $3"
}

# secrets_of HOST NUMBER FILTER: the numbers that FILTER finds in the link l on HOST;
# fails if they are fewer than NUMBER
secrets_of()
{
	local all

	all=$(of "$1" l "$3" | grep -xE '[0-9]+')
	[ "$(wc -l <<<"$all")" -ge "$2" ] || {
		printf 'host %s has fewer than %s:\n%s\n' "$1" "$2" "$all" >&2
		return 1
	}
	echo "$all"
}

# written NUMBER: a pattern for grep -wiE that matches NUMBER in decimal, and in
# hexadecimal with and without 0x and zeros
written()
{
	printf '0*%s|(0x)?0*%x\n' "$1" "$1"
}

# is HOST NAME FILTER VALUE: FILTER gives VALUE, which may come from of(), too, and must
# not be empty or null
is()
{
	local value

	value=$(of "$1" "$2" "$3")
	if [ -z "$4" ] || [ "$4" = null ] || [ "$value" != "$4" ]; then
		echo "host $1, link $2: $3 is ${value:-nothing}, not ${4:-something}"
		return 1
	fi
}

becomes()
{
	until_true 10 is "$@" || is "$@"
}

# ups HOST: how many links are up on HOST
ups()
{
	on "$1" "$tool" show -j | gojq '[.[] | select(.state == "up")] | length'
}

# gid_index HOST ADDRESS: the index of the RoCE v2 GID that equals ADDRESS
# shellcheck disable=SC2016
gid_index()
{
	on "$1" "$tool" dev -j | gojq -er --arg gid "$2" --arg dev "$RCL_DEV" '.[] |
		select(.device == $dev).gids[] |
		select(.gid == $gid and .type == "roce-v2").index'
}

# no_roce HOST PROTOCOL...: HOST receives no RoCE packets over PROTOCOL, which is ip or
# ipv6, until rdma_hears
no_roce()
{
	local host=$1 protocol header

	shift
	on "$host" tc qdisc replace dev eth0 clsact || return
	for protocol; do
		header=${protocol/ipv6/ip6}
		on "$host" tc filter add dev eth0 ingress protocol "$protocol" \
			u32 match "$header" protocol 17 0xff \
			match "$header" dport 4791 0xffff action drop || return
	done
}

# qps HOST STATE: how many QPs of the module are in STATE
qps()
{
	on "$1" rdma resource show qp -j |
		gojq "[.[] | select(.comm == \"rclink\" and .state == \"$2\")] | length"
}

# objects HOST [KIND]...: how many QPs, CQs, MRs and PDs the module has, or of KIND
# only; fails where they cannot be listed
objects()
{
	local host=$1 kind all=''

	shift
	[ $# -gt 0 ] || set -- qp cq mr pd
	for kind; do
		all+=$(on "$host" rdma resource show "$kind")$'\n' || return
	done
	grep -cF '[rclink]' <<<"$all" || true
}

# objects_are N1 N2: the module has N1 objects on host 1, and N2 on host 2
objects_are()
{
	[ "$(objects 1)" -eq "$1" ] && [ "$(objects 2)" -eq "$2" ]
}

objects_of_both()
{
	local near far

	near=$(objects 1) && far=$(objects 2) && echo "$near and $far"
}

# There are as many as objects_then says; those of an epoch that has just ended may
# exist for another moment.
objects_same()
{
	[ -n "$objects_then" ] && [ "$(objects_of_both)" = "$objects_then" ]
}

nothing_left()
{
	[ "$(objects "$1")" -eq 0 ]
}

empty()
{
	until_true 10 nothing_left "$1" || {
		echo "host $1 has $(objects "$1") objects"
		return 1
	}
}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Callers and listeners that are not who they should be, against the real tool and the
# real module: they are refused with a reason, and no object is left.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# timeout: 600
# The libraries define the variables; eval expands its arguments.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/link/ca.sh"
. "$LIB_DIR/link/core.sh"

other=/tmp/rclink-test-other.pem
ca=/tmp/rclink-test-ca
passed=/tmp/rclink-test-passed
whole=0

made_nothing()
{
	[ "$(of 1 l .state)" != up ] && nothing_left 1 && nothing_left 2
}

# Each `prepare` takes the next epoch number, even if the epoch is undone at once.
epochs()
{
	of 1 l .epoch && of 2 l .epoch
}

# refused TEXT CMD...: CMD fails and prints TEXT, and neither end has prepared an epoch
refused()
{
	local text=$1 said before

	shift
	before=$(epochs) || return
	said=$("$@" 2>&1) && return 1
	echo "$said"
	grep -q -e "$text" <<<"$said" && made_nothing &&
		[ "$(epochs)" = "$before" ]
}

tls()
{
	timeout $((20 * RCL_SLOW)) openssl s_client -connect "$RCL_PEER_IP:7185" -alpn rclink/1 \
		"$@" </dev/null 2>&1
}

# The code that reads the peer's first message gets none, and must not act.
no_certificate()
{
	local before

	before=$(epochs) || return
	tls -tls1_3 >/tmp/s_client
	made_nothing && until_true 10 grep -q \
		'no certificate\|certificate required\|not sent' "$log" &&
		[ "$(epochs)" = "$before" ]
}

# The listener's alert says what is wrong.
old_tls()
{
	tls -tls1_2 -cert "$key" -key "$key" | grep 'alert protocol version' &&
		until_true 10 grep -q '^refused.* TLS 1\.3' "$log" && made_nothing
}

callers_refused()
{
	grep -c '^refused' "$log"
}

# The next caller gets the link.
garbage()
{
	local before

	before=$(callers_refused)
	head -c 4096 /dev/urandom |
		timeout $((5 * RCL_SLOW)) socat - "TCP:$RCL_PEER_IP:7185" >/dev/null 2>&1
	until_true 10 eval '[ "$(callers_refused)" -gt '"$before"' ]' &&
		made_nothing && link_dial l && ends
}

ends()
{
	rclink disconnect l && becomes 2 l .state down && until_true 40 made_nothing
}

# dial_by_proxy BYTES: dials through a proxy that passes so many on to the listener and
# then ends. head must write at once what it has read, since the peer answers it.
dial_by_proxy()
{
	local passes="stdbuf -o0 head -c $1 | tee $passed" proxy status

	socat TCP-LISTEN:7200,reuseaddr \
		SYSTEM:"$passes | socat - TCP\:$RCL_PEER_IP\:7185" &
	proxy=$!
	until_true 5 sh -c 'ss -ltn | grep -q :7200'
	rclink connect l 127.0.0.1:7200 --key "$key" --pin "$pin2" \
		--timeout $((20 * RCL_SLOW))
	status=$?
	# After a whole exchange the proxy ends by itself, and has recorded all bytes.
	[ "$status" -eq 0 ] || kill $proxy 2>/dev/null
	wait $proxy
	return "$status"
}

# Sets whole: how many bytes host 1 sends in a whole exchange
whole_exchange()
{
	dial_by_proxy 1000000 && is 1 l .state up && is 2 l .state up &&
		! nothing_left 1 && ! nothing_left 2 || return
	whole=$(wc -c <$passed)
	ends
}

# The record of a link made anew has only one exchange.
made_anew()
{
	rclink del l && on 2 "$tool" del l && link_add 1 l && link_add 2 l
}

# is_cut BYTES: an exchange that is cut after BYTES fails, and leaves nothing
is_cut()
{
	if dial_by_proxy "$1" >/tmp/cut 2>&1 ||
	   ! grep -q 'the peer closed\|broke\|the link went down' /tmp/cut ||
	   [ "$(wc -c <$passed)" -ne "$1" ] || ! until_true 40 made_nothing; then
		cat /tmp/cut
		echo "cut after $1 of $whole bytes"
		return 1
	fi
}

# The connection is cut at many places. The last is in the midst of CONFIRM, before the
# 54 bytes of DONE and close_notify: after that an end may be up. There both ends have
# prepared, and have received the other's values.
cut_after()
{
	local bytes

	[ "$whole" -gt 500 ] || return
	for bytes in 100 $((whole / 4)) $((whole / 2)) $((whole * 3 / 4)) \
		     $((whole - 120)) $((whole - 60)); do
		made_anew && is_cut "$bytes" || return
	done
	tells 1 'it was prepared' "the peer's values came in" &&
		tells 2 'it was prepared' "the peer's values came in"
}

# All that tools and kernels print, and all command lines, without times and ports.
all_that_is_said()
{
	{
		sed 's/^/rclink: /' /tmp/said "$log"
		dmesg
		on 2 dmesg
		ps axww -o args
		on 2 ps axww -o args
	} | sed -E 's/^\[[^]]*\]//; s/[0-9.]+ m?s\>//g; s/:[0-9]+\>//g'
}

# Neither the log nor any process shows what must stay secret.
no_secret_anywhere()
{
	local all secret where

	link_dial l -v >/tmp/said 2>&1 || return
	# Read while the listener still runs.
	all_that_is_said >/tmp/everything
	all=$(secrets_of 1 14 '.local, .remote | .rkey, .addr,
		.queue_pairs[].psn') || return
	for secret in $all; do
		# A short secret may equal another number of the kernel's: look only
		# at lines of rclink then.
		where=''
		[ ${#secret} -gt 4 ] || where=rclink
		! grep -e "$where" /tmp/everything |
			grep -wiE -e "$(written "$secret")" || return
	done
	! grep -F "$(sed -n 2p "$key")" /tmp/everything
}

# `rclink connect`, and below `rclink listen`, is killed while its key is in memory.
no_core_of_connect()
{
	local pid status=0

	cores_on 1 || return
	on 2 pkill -STOP -x rclink
	(
		ulimit -c unlimited
		exec "$tool" connect l "$RCL_PEER_IP" --key "$key" --pin "$pin2"
	) &
	pid=$!
	until_true 10 sh -c 'ss -Htn | grep -q "ESTAB.*:7185"' || status=1
	kill -ABRT $pid
	wait $pid
	[ $? -eq 134 ] || status=1
	on 2 pkill -CONT -x rclink
	no_core 1 rclink && return $status
}

no_core_of_listen()
{
	link_listen_end
	cores_on 2 || return
	on 2 sh -c 'ulimit -c unlimited; exec "$@"' - "$tool" listen \
		--key "$key" --peer "l=$pin1" >"$log" &
	listener=$!
	until_true 10 grep -q listening "$log" || return
	on 2 pkill -ABRT -x rclink
	wait "$listener"
	[ $? -eq 134 ] || return
	no_core 2 rclink
}

ca_setup()
{
	make_ca $ca && make_ca $ca-other && sign $ca host1.test 1 &&
		sign $ca host2.test 1 && sign $ca-other stranger.test 1 &&
		give $ca.pem && give /tmp/host2.test.pem
}

# listen_as OPTIONS...: host 2 listens with OPTIONS, instead of its last listener
listen_as()
{
	link_listen_end
	: >"$log"
	on 2 "$tool" listen "$@" >"$log" 2>&1 &
	listener=$!
	until_true 10 grep -q listening "$log"
}

# Host 2 listens at its network address alone, and then at the loopback address alone.
at_one_address()
{
	listen_as --bind "$RCL_PEER_IP" --key "$key" --peer "l=$pin1" &&
		refused 'Connection refused' on 2 "$tool" connect l 127.0.0.1 \
			--key "$key" --pin "$pin2" && link_dial l && ends &&
	listen_as --bind 127.0.0.1 --key "$key" --peer "l=$pin1" &&
		on 2 sh -c 'ss -Hltn | grep -q "127.0.0.1:7185 "' &&
		refused 'Connection refused' link_dial l
}

ca_listen()
{
	listen_as --key /tmp/host2.test.pem --ca $ca.pem \
		--peer l=dns:host1.test "$@"
}

# ca_dial NAME PEER [OPTIONS]
ca_dial()
{
	rclink connect l "$RCL_PEER_IP" --key "/tmp/$1.pem" --ca $ca.pem \
		--name "$2" --timeout $((30 * RCL_SLOW)) "${@:3}"
}

# crl NAME...: both hosts get a CRL with the certificates of NAME...
crl()
{
	revoke $ca "$@" && give $ca.crl
}

# The certificate of old.test is a former one of host1.test, and has that name.
caller_revoked()
{
	cp /tmp/host1.test.crt /tmp/old.test.crt &&
		cp /tmp/host1.test.pem /tmp/old.test.pem &&
		sign $ca host1.test 1 && crl old.test &&
		ca_listen --crl $ca.crl &&
		refused "this host's certificate is revoked" \
			ca_dial old.test host2.test &&
		until_true 10 grep -q '^refused.*certificate revoked' "$log"
}

listener_revoked()
{
	ca_listen && crl host2.test && refused 'certificate revoked' \
		ca_dial host1.test host2.test --crl $ca.crl
}

not_revoked()
{
	crl old.test && ca_dial host1.test host2.test "$@" && ends
}

# Key and certificate, each in a file of its own. Of two --key options, the last counts.
two_files()
{
	give /tmp/host2.test.key && give /tmp/host2.test.crt &&
		ca_listen --key /tmp/host2.test.key \
			--cert /tmp/host2.test.crt &&
		ca_dial host1.test host2.test --key /tmp/host1.test.key \
			--cert /tmp/host1.test.crt && ends
}

plan 30
link_setup
link_add 1 l
link_add 2 l
rm -f $other
wrong=$("$tool" genkey $other)
link_listen l
check "a caller with another key is refused" \
	refused "peer: $wrong is not among the peers" \
	rclink connect l "$RCL_PEER_IP" --key $other --pin "$pin2"
check "a listener with another key is refused" \
	refused "the peer's key is $pin2, not the pinned one" \
	rclink connect l "$RCL_PEER_IP" --key "$key" --pin "$wrong"
check "a caller without certificate gets nothing" no_certificate
check "TLS 1.2 is refused" old_tls
check "garbage instead of TLS is refused, and the next caller is not" garbage
holds "a proxy that cuts nothing lets a whole exchange through" whole_exchange
check "a connection cut anywhere leaves nothing" cut_after
check "a peer that says nothing is given up" refused 'timed out' \
	eval 'socat TCP-LISTEN:7201,reuseaddr SYSTEM:"sleep 30" & \
	until_true 5 sh -c "ss -ltn | grep -q :7201"; rclink connect l \
	127.0.0.1:7201 --key "$key" --pin "$pin2" --timeout 3'
for case in missing: directory:/tmp readable:/tmp/readable.pem; do
	case ${case%%:*} in
	missing) file=/tmp/no-such.pem ;;
	readable) file=/tmp/readable.pem; cp "$key" $file; chmod 644 $file ;;
	*) file=/tmp ;;
	esac
	refuse 1 "a key file that is ${case%%:*} is refused" "$file" \
		rclink connect l "$RCL_PEER_IP" --key $file --pin "$pin2"
done
ln -sf "$key" /tmp/link.pem
refuse 1 "a key file that is a symbolic link is refused" /tmp/link.pem \
	rclink connect l "$RCL_PEER_IP" --key /tmp/link.pem --pin "$pin2"
check "no secret in logs and processes" no_secret_anywhere
rclink disconnect l
if [ -e /proc/sys/kernel/core_pattern ]; then
	holds "an aborted connect leaves no core with its key" no_core_of_connect
	holds "an aborted listener leaves no core with its key" no_core_of_listen
else
	skip "an aborted connect leaves no core: nothing does on this kernel"
	skip "an aborted listener leaves no core: nothing does on this kernel"
fi
check "CA mode: identities are made" ca_setup
ca_listen
check "CA mode: the right names link up" ca_dial host1.test host2.test
rclink disconnect l
check "CA mode: another name is refused" refused 'host3.test' \
	ca_dial host1.test host3.test
check "CA mode: another CA is refused" refused 'CA that the peer trusts' \
	ca_dial stranger.test host2.test
check "CA mode: and the listener says why" \
	until_true 10 grep -q 'refused.*not accepted' "$log"
check "CA mode: a name that is not listed is refused" \
	refused 'peer: host2.test is not among the peers' ca_dial host2.test host2.test
holds "--crl: a caller that is revoked is refused" caller_revoked
check "--crl: one that is not links up" not_revoked
holds "--crl: a listener that is revoked is refused" listener_revoked
check "--crl: one that is not links up, too" not_revoked --crl $ca.crl
refuse 1 "--crl: a list that is not there is refused" /tmp/no-such.crl \
	ca_dial host1.test host2.test --crl /tmp/no-such.crl
holds "--cert: key and certificate may be in two files" two_files
refuse 1 "--cert: a certificate of another key is refused" 'does not fit' \
	ca_dial host1.test host2.test --cert /tmp/host2.test.crt
refuse 1 "--cert: one that is not there is refused" /tmp/no-such.crt \
	ca_dial host1.test host2.test --cert /tmp/no-such.crt
holds "--bind: a listener is at that address alone" at_one_address
link_listen_end
finish

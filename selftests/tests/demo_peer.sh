#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demo on two hosts that have a device, without guests of its own; a script stands
# in for ssh.
# hosts: 2
# kernels: 6.1-all 6.12-all
# lab: has a script in place of ssh
# ib: no, the addresses that it shows are those of RoCE
# timeout: 300
# eval expands the quoted text.
# shellcheck disable=SC2016

. "$(dirname "$0")/../lib.sh"

bin=/tmp/rclink-test-bin
seen=/tmp/rclink-test-demo

# `modprobe rclink` loads the module of this tree, and `ssh` runs its command on host 2.
play='mkdir -p "$1" && cd "$1" && cat >modprobe <<-EOF && cat >ssh <<-EOF && chmod 755 modprobe ssh
	#!/bin/sh
	[ "\$1" != rclink ] || exec lab_load
	exec /sbin/modprobe "\$@"
	EOF
	#!/bin/sh
	shift
	exec on 2 env PATH="$1:$PATH" sh -c "\$*"
	EOF
'

demo()
{
	PATH=$bin:$PATH RCLINK_PEER=root@$RCL_PEER_IP RCLINK_DEV=$RCL_DEV \
		"$LIB_DIR/demo.sh" >$seen 2>&1
}

plan 4
lab_device
on_all sh -c "$play" - $bin || bail "no ssh"
if demo; then
	pass "the demo ends well over ssh"
else
	comment <$seen
	fail "the demo ends well over ssh"
fi
check "it boots nothing" eval '! grep booting $seen'
check "the link comes up, and each operation is measured" eval '
	grep -q "^demo: up, epoch 1, peer sha256:" $seen &&
	[ "$(grep -c "^--- demo: .* ok, 0 failed" $seen)" -eq 6 ]'
check "it comes to its end, and leaves nothing" eval '
	grep -qx "(nothing)" $seen && grep -q "^Done in [0-9]* s" $seen'
finish

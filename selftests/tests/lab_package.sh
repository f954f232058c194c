#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The test files as a package of the kernel's kselftest, outside the tree.
# hosts: 1
# kernels: 6.12-all
# only: it takes a quarter of an hour, and what is packed is the same
# timeout: 1200

# The package is on this host only.
export RCL_HOSTS=1
. "$(dirname "$0")/../lib.sh"

package=/tmp/rclink-test-package
target=rclink/selftests/tests

makes()
{
	make -s -C "$LIB_DIR" install KSFT_INSTALL_PATH=$package &&
		diff <("$package/run_kselftest.sh" -l | sed "s|^$target:||" | sort) \
			<(cd "$LIB_DIR/tests" && grep -L '^# hosts: 0' ./*.sh |
				sed 's|^\./||' | sort)
}

# runs FILE PATTERN: run_kselftest.sh of the package runs FILE and prints PATTERN. Each
# file unloads the module, which is not installed here, so it is loaded first.
runs()
{
	lab_module
	"$package/run_kselftest.sh" -t "$target:$1" | tee /dev/stderr |
		grep -qE "$2"
}

plan 4
lab_device
check "it is made, and has each file for hosts" makes
check "a file of it runs" runs nl_ping.sh "^ok 1 selftests: $target: nl_ping.sh$"
check "one with libraries and programs of its own does" runs chan_memory.sh \
	"^ok 1 selftests: $target: chan_memory.sh$"
check "what needs more than the package says so" runs sim_self.sh \
	"SKIP no rdmasim.ko: it is built in a tree"
rm -rf $package
finish

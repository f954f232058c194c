// SPDX-License-Identifier: GPL-2.0
/*
 * With kselftest_harness.h, the process of each test ends by _exit(), where
 * LeakSanitizer does not check by itself. Linked with -Wl,--wrap=_exit.
 */
#include <sanitizer/lsan_interface.h>
#include <unistd.h>

void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

void __wrap__exit(int status)
{
	if (__lsan_do_recoverable_leak_check())
		status = 1;
	__real__exit(status);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * kselftest_harness.h has each test end its process by _exit(), and there
 * LeakSanitizer does not look by itself. Linked with -Wl,--wrap=_exit.
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

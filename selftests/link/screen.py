#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Run a command on a terminal, and look at its screen.

usage: screen.py STEP [STEP...] -- COMMAND [WORD...]

A step is "see=REGEX" (until a line of the screen matches, with its number, from
0, and a space before it), "gone=REGEX" (until none does), "key=KEYS", "do=SHELL
COMMAND" or "signal=NUMBER". After the last one the command has to end by
itself, whose status is that of this one. RCL_COLUMNS: how wide it is (110). Each step has 20 s times RCL_SLOW; the
screen is printed when one does not come true.
"""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

import pyte

LINES, COLUMNS = 24, int(os.environ.get("RCL_COLUMNS", "110"))
STEP_S = 20 * int(os.environ.get("RCL_SLOW", "1"))


class Terminal:
    def __init__(self, command):
        self.screen = pyte.Screen(COLUMNS, LINES)
        self.stream = pyte.ByteStream(self.screen)
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ["TERM"] = "linux"
            fcntl.ioctl(0, termios.TIOCSWINSZ,
                        struct.pack("HHHH", LINES, COLUMNS, 0, 0))
            os.execvp(command[0], command)

    def look(self, seconds):
        """Take what was written; False: the command has ended."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.stream.feed(data)
        return bool(data)

    def matches(self, regex):
        return any(re.search(regex, f"{number} {line}")
                   for number, line in enumerate(self.screen.display))

    def until(self, true):
        end = time.monotonic() + STEP_S
        while not true():
            if time.monotonic() > end or not self.look(0.1):
                return true()
        return True

    def step(self, step):
        what, _, value = step.partition("=")
        if what == "see":
            return self.until(lambda: self.matches(value))
        if what == "gone":
            return self.until(lambda: not self.matches(value))
        if what == "key":
            return os.write(self.fd, value.encode().decode("unicode_escape")
                            .encode("latin1")) > 0
        if what == "do":
            return not subprocess.call(value, shell=True)
        if what == "signal":
            os.kill(self.pid, int(value))
            return True
        sys.exit("screen.py: no step " + what)

    def end(self):
        """The status of the command, or None."""
        end = time.monotonic() + STEP_S
        while self.look(0.1):
            if time.monotonic() > end:
                return None
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def main():
    split = sys.argv.index("--")
    terminal = Terminal(sys.argv[split + 1:])
    for step in sys.argv[1:split]:
        if not terminal.step(step):
            print("\n".join(line.rstrip() for line in terminal.screen.display))
            os.kill(terminal.pid, 9)
            sys.exit("screen.py: does not come true: " + step)
    status = terminal.end()
    if status is None:
        os.kill(terminal.pid, 9)
        sys.exit("screen.py: the command does not end")
    sys.exit(status)


main()

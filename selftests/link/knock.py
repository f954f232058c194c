#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Open connections as fast as can be, say nothing, and close them.

Prints how many were opened.

usage: knock.py ADDRESS PORT SOURCE SECONDS AT-ONCE
"""
import errno
import select
import socket
import struct
import sys
import time

address, port, source = sys.argv[1:4]
seconds, most = (int(arg) for arg in sys.argv[4:])


def knock(poll):
    """Begin one."""
    sock = socket.socket()
    sock.setblocking(False)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                    struct.pack("ii", 1, 0))
    sock.bind((source, 0))
    if sock.connect_ex((address, int(port))) not in (0, errno.EINPROGRESS):
        sys.exit("no connection can be begun")
    poll.register(sock, select.POLLOUT)
    return sock


poll = select.poll()
begun = {}
opened = 0
end = time.monotonic() + seconds
while time.monotonic() < end:
    while len(begun) < most:
        sock = knock(poll)
        begun[sock.fileno()] = sock
    for fd, what in poll.poll(100):
        sock = begun.pop(fd)
        poll.unregister(fd)
        opened += not sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        sock.close()
print(opened)

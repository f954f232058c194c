#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Begin exchanges as fast as can be, with a key that the other end trusts.

Each says its first message and breaks off. Prints how many there were.

usage: flood.py HOST PORT KEY HEX SECONDS PROCESSES
"""
import os
import socket
import ssl
import struct
import sys
import time

host, port, key, message = sys.argv[1:5]
seconds, processes = (int(arg) for arg in sys.argv[5:])
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
context.set_alpn_protocols(["rclink/1"])
context.load_cert_chain(key)


def attempt():
    """One exchange; true if its message was sent."""
    try:
        with socket.create_connection((host, int(port)), timeout=20) as tcp:
            tcp.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                           struct.pack("ii", 1, 0))
            with context.wrap_socket(tcp) as tls:
                tls.sendall(bytes.fromhex(message))
        return True
    except OSError:
        return False


def attempts(end):
    """How many were sent until then."""
    sent = 0
    while time.monotonic() < end:
        sent += attempt()
    return sent


end = time.monotonic() + seconds
pipes = []
for _ in range(processes):
    out, into = os.pipe()
    if not os.fork():
        os.write(into, str(attempts(end)).encode())
        os._exit(0)
    os.close(into)
    pipes.append(out)
print(sum(int(os.read(out, 20)) for out in pipes))

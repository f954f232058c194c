#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Begin an exchange with bytes, and wait until the other end has had enough.

usage: begin.py HOST PORT KEY HEX
"""
import socket
import ssl
import sys

host, port, key, message = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
context.set_alpn_protocols(["rclink/1"])
context.load_cert_chain(key)
with socket.create_connection((host, int(port)), timeout=20) as tcp:
    with context.wrap_socket(tcp) as tls:
        tls.sendall(bytes.fromhex(message))
        while tls.recv(4096):
            pass

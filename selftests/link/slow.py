#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Connections that want to keep a listener busy: one byte each second.

usage: slow.py ADDRESS PORT NUMBER [KEY STRANGERS [SECONDS SOURCE...]]

So many of the NUMBER as STRANGERS says, the last, begin so after a TLS
handshake with the identity in the file KEY. Prints "open NUMBER STRANGERS"
after the last handshake: how many, and of the strangers how many, are still
served; then, when the listener has closed all, the most seconds that it bore
one: "longest SECONDS". They are at the SOURCEs in turn. For SECONDS, who was
closed calls again, as far as that is not too often.
"""
import socket
import ssl
import sys
import time

AGAIN = 50      # so often in a second


def context(key):
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ctx.check_hostname = False
    ctx.verify_mode = ssl.CERT_NONE
    ctx.set_alpn_protocols(["rclink/1"])
    ctx.load_cert_chain(key)
    return ctx


class Caller:
    def __init__(self, address, ctx, source=None):
        # What begins a message that will never be whole.
        self.bytes = b"\x16\x03\x01\x3f\xff\x01\x00\x3f\xfb\x03\x03"
        self.stranger = bool(ctx)
        self.shaken = not ctx
        self.ctx = ctx
        self.source = source
        self.sock = socket.create_connection(address, 30,
                                             source and (source, 0))
        self.began = time.monotonic()
        self.sock.setblocking(False)
        if ctx:
            self.bytes = b"\x00\x00\x02\x00\x00\x02\x00\x01\x00"
            self.sock = ctx.wrap_socket(self.sock,
                                        do_handshake_on_connect=False)
        if ctx and source:
            self.shake()

    def shake(self):
        """Who calls again and again does that without a pause."""
        self.sock.settimeout(5)
        try:
            self.sock.do_handshake()
            self.shaken = True
        except OSError:
            pass
        self.sock.setblocking(False)

    def go_on(self):
        if not self.shaken:
            self.sock.do_handshake()
            self.shaken = True
        self.sock.send(self.bytes[:1])
        self.bytes = self.bytes[1:] or b"\0"
        return bool(self.sock.recv(4096))

    def goes_on(self):
        """A step of the handshake, or the next byte; False: it is closed."""
        try:
            return self.go_on()
        except (BlockingIOError, ssl.SSLWantReadError):
            return True
        except OSError:
            return False


def main():
    address = (sys.argv[1], int(sys.argv[2]))
    contexts = [None] * int(sys.argv[3])
    if len(sys.argv) > 4:
        strangers = int(sys.argv[5])
        contexts[-strangers:] = [context(sys.argv[4])] * strangers
    seconds = float(sys.argv[6]) if len(sys.argv) > 6 else 0
    sources = sys.argv[7:] or [None]
    callers = [Caller(address, ctx, sources[i % len(sources)])
               for i, ctx in enumerate(contexts)]
    begin = time.monotonic()
    opened = False
    longest = again = 0
    while callers:
        for caller in list(callers):
            if caller.goes_on():
                continue
            now = time.monotonic() - begin
            longest = max(longest, now + begin - caller.began)
            callers.remove(caller)
            # A flood of new connections would be another attack.
            if now < seconds and again < AGAIN * now:
                again += 1
                callers.append(Caller(address, caller.ctx, caller.source))
        if seconds or all(caller.shaken for caller in callers):
            if not opened:
                strangers = sum(caller.stranger for caller in callers)
                print("open", len(callers), strangers, flush=True)
                opened = True
            time.sleep(1)
    print("longest %.1f" % longest)


main()

"""The server name in a TLS client's first message, read without terminating the connection."""

import struct
from enum import Enum
from typing import Final

HANDSHAKE: Final = 0x16
MAX_HELLO_BYTES: Final = 32 * 1024
ALERT_UNRECOGNIZED_NAME: Final = bytes((0x15, 3, 1, 0, 2, 2, 112))
_SERVER_NAME: Final = 0


class NotYet(Enum):
    """More bytes are needed."""

    MORE = 0


class NotTls(Exception):
    """These bytes are not the start of a TLS connection."""


def server_name(data: bytes) -> str | NotYet | None:
    """The server name in a ClientHello, or None if it has none. Raises `NotTls`, also for one of more than
    `MAX_HELLO_BYTES`."""
    hello = b""
    at = 0
    while True:  # one message may span several records
        if len(data) - at < 5:
            return _more(data)
        kind, major, _, size = struct.unpack_from("!BBBH", data, at)
        if kind != HANDSHAKE or major != 3 or not 0 < size <= 16384 + 256:
            raise NotTls
        hello += data[at + 5 : at + 5 + size]
        at += 5 + size
        if len(hello) >= 4:
            needed = 4 + int.from_bytes(hello[1:4], "big")
            if hello[0] != 1 or needed > MAX_HELLO_BYTES:
                raise NotTls
            if len(hello) >= needed:
                return _name(hello[4:needed])
        if at > len(data):
            return _more(data)


def _more(data: bytes) -> NotYet:
    if len(data) > MAX_HELLO_BYTES:
        raise NotTls
    return NotYet.MORE


def _name(hello: bytes) -> str | None:
    try:
        at = 34  # version and random
        at += 1 + hello[at]  # session id
        at += 2 + int.from_bytes(hello[at : at + 2], "big")  # ciphers
        at += 1 + hello[at]  # compression
        end = at + 2 + int.from_bytes(hello[at : at + 2], "big")
        at += 2
        if end != len(hello) and at < len(hello):
            raise NotTls
        while at < end:
            kind, size = struct.unpack_from("!HH", hello, at)
            if kind == _SERVER_NAME:
                return _first_name(hello[at + 4 : at + 4 + size])
            at += 4 + size
    except (IndexError, struct.error):
        raise NotTls from None
    return None


def _first_name(extension: bytes) -> str:
    listed, kind, size = struct.unpack_from("!HBH", extension)
    name = extension[5 : 5 + size]
    if listed != len(extension) - 2 or kind != 0 or len(name) != size or size + 3 != listed:
        raise NotTls
    try:
        return name.decode("ascii").lower()
    except UnicodeDecodeError:
        raise NotTls from None

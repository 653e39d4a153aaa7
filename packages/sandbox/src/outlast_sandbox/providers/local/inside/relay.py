"""One server's way into a container: carries many connections over this process's own streams 0 and 1."""

from __future__ import annotations

import _socket
import os
import select
import struct

from .channels import CLOSE, DATA, END, HEAD, OPEN, OPENED, REFUSED, TAKEN, WINDOW
from .frames import Decoder, encode
from .host_start import ADDRESS

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Callable, Optional

PIECE = 32 * 1024
MAX_UNSENT = 1024 * 1024
MAX_OWN_CHANNELS = 300
AGENT_S = 15.0
LOOPBACK = ((_socket.AF_INET, "127.0.0.1"), (_socket.AF_INET6, "::1"))
READ, WRITE = select.EPOLLIN, select.EPOLLOUT


def main() -> None:
    """Serve until stream 0 ends."""
    Relay().run()


class Channel:
    """One connection in here: `unsent` waits for it, `room` bytes of it may be sent to the server."""

    def __init__(self, number: int, sock: _socket.socket) -> None:
        self.number = number
        self.sock = sock
        self.unsent = bytearray()
        self.room = WINDOW
        self.ends = False  # the server has ended its side
        self.read_all = False


class Relay:
    """All its channels. Never blocks, but at the request for the egress listener."""

    def __init__(self) -> None:
        self._channels: dict[int, Channel] = {}
        self._out = bytearray()
        self._in = bytearray()
        self._epoll = select.epoll()
        self._handlers: dict[int, Callable[[int], None]] = {}
        self._masks: dict[int, int] = {}
        self._next = 2  # ours are even, the server's odd
        self._listener: Optional[_socket.socket] = None
        self._way_out_number = 0  # its channel is the connection to the agent over which the listener came
        self._running = True
        os.set_blocking(0, False)
        os.set_blocking(1, False)
        self._handlers[0] = lambda _events: self._receive()
        self._handlers[1] = lambda _events: self._flush()
        self._watch(0, READ)

    def run(self) -> None:
        while self._running:
            for fd, events in self._epoll.poll():
                handler = self._handlers.get(fd)
                if handler is not None:
                    handler(events)

    def _watch(self, fd: int, mask: int) -> None:
        before = self._masks.get(fd, 0)
        if mask == before:
            return
        if not mask:
            self._epoll.unregister(fd)
        elif before:
            self._epoll.modify(fd, mask)
        else:
            self._epoll.register(fd, mask)
        self._masks[fd] = mask

    # The server's side.

    def _send(self, number: int, kind: int, payload: bytes = b"") -> None:
        self._out += HEAD.pack(number, kind, len(payload)) + payload
        self._flush()

    def _flush(self) -> None:
        was_full = len(self._out) > MAX_UNSENT
        try:
            while self._out:
                del self._out[: os.write(1, memoryview(self._out)[:65536])]
        except BlockingIOError:
            pass
        except OSError:
            self._running = False
            return
        self._watch(1, WRITE if self._out else 0)
        if was_full and len(self._out) <= MAX_UNSENT:
            for channel in list(self._channels.values()):
                self._arm(channel)

    def _receive(self) -> None:
        try:
            data = os.read(0, 1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._running = False
            return
        self._in += data
        at = 0
        while len(self._in) - at >= HEAD.size:
            number, kind, length = HEAD.unpack_from(self._in, at)
            end = at + HEAD.size + length
            if len(self._in) < end:
                break
            payload = bytes(self._in[at + HEAD.size : end])
            at = end
            self._frame(number, kind, payload)
        del self._in[:at]

    def _frame(self, number: int, kind: int, payload: bytes) -> None:
        if kind == OPEN:
            self._open(number, payload.decode())
            return
        channel = self._channels.get(number)
        if channel is None:
            return
        if kind == DATA:
            channel.unsent += payload
            self._drain(channel)
        elif kind == TAKEN:
            channel.room += int.from_bytes(payload, "big")
            self._arm(channel)
        elif kind == END:
            channel.ends = True
            self._drain(channel)
        elif kind == CLOSE:
            self._drop(channel)

    def _open(self, number: int, target: str) -> None:
        try:
            if target == "agent":
                self._add(number, _to_agent())
            elif target == "egress":
                self._add(number, self._way_out())
                self._way_out_number = number
            else:
                self._dial(number, int(target))
                return
        except OSError as error:
            self._send(number, REFUSED, str(error).encode())
            return
        self._send(number, OPENED)

    def _dial(self, number: int, port: int, families: int = 0) -> None:
        """Connect to a port in here, without waiting: a full backlog may take its time."""
        for index, (family, address) in enumerate(LOOPBACK[families:], families + 1):
            sock = _connecting(family, address, port)
            if sock is not None:
                self._handlers[sock.fileno()] = self._later(number, port, index, sock)
                self._watch(sock.fileno(), WRITE)
                return
        self._send(number, REFUSED, b"nothing listens there")

    def _later(self, number: int, port: int, families: int, sock: _socket.socket) -> Callable[[int], None]:
        return lambda _events: self._dialled(number, port, families, sock)

    def _dialled(self, number: int, port: int, families: int, sock: _socket.socket) -> None:
        self._watch(sock.fileno(), 0)
        del self._handlers[sock.fileno()]
        if sock.getsockopt(_socket.SOL_SOCKET, _socket.SO_ERROR):
            sock.close()
            self._dial(number, port, families)
            return
        self._add(number, sock)
        self._send(number, OPENED)

    # The side in here.

    def _add(self, number: int, sock: _socket.socket) -> None:
        sock.setblocking(False)
        channel = self._channels[number] = Channel(number, sock)
        self._handlers[sock.fileno()] = lambda events: self._ready(channel, events)
        self._arm(channel)

    def _arm(self, channel: Channel) -> None:
        reads = channel.room > 0 and not channel.read_all and len(self._out) <= MAX_UNSENT
        self._watch(channel.sock.fileno(), (READ if reads else 0) | (WRITE if channel.unsent else 0))

    def _ready(self, channel: Channel, events: int) -> None:
        if events & WRITE:
            self._drain(channel)
        if events & ~WRITE and channel.number in self._channels:
            self._read(channel)

    def _read(self, channel: Channel) -> None:
        try:
            data = channel.sock.recv(min(PIECE, max(channel.room, 1)))
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            channel.room -= len(data)
            self._send(channel.number, DATA, data)
            self._arm(channel)
            return
        if channel.ends and not channel.unsent:
            self._send(channel.number, CLOSE)
            self._drop(channel)
            return
        if channel.number == self._way_out_number:  # another server has taken over
            self._send(channel.number, CLOSE)
            self._drop(channel)
            return
        if not channel.read_all:
            channel.read_all = True
            self._send(channel.number, END)
            self._arm(channel)

    def _drain(self, channel: Channel) -> None:
        written = 0
        try:
            while channel.unsent:
                count = channel.sock.send(memoryview(channel.unsent)[:65536])
                del channel.unsent[:count]
                written += count
        except BlockingIOError:
            pass
        except OSError:
            self._send(channel.number, CLOSE)
            self._drop(channel)
            return
        if written:
            self._send(channel.number, TAKEN, written.to_bytes(4, "big"))
        if channel.ends and not channel.unsent:
            if channel.read_all:
                self._send(channel.number, CLOSE)
                self._drop(channel)
                return
            _end(channel.sock)
        self._arm(channel)

    def _drop(self, channel: Channel) -> None:
        del self._channels[channel.number]
        self._watch(channel.sock.fileno(), 0)
        self._handlers.pop(channel.sock.fileno(), None)
        channel.sock.close()
        if channel.number == self._way_out_number:
            self._close_way_out()

    # Egress.

    def _way_out(self) -> _socket.socket:
        """Ask the agent for the egress listener, and accept on it from now on; the connection shows when another server
        has taken over. Raises OSError."""
        sock = _to_agent()
        sock.settimeout(AGENT_S)
        sock.sendall(encode({"op": "egress"}))
        data, extra, _flags, _address = sock.recvmsg(1 << 16, _socket.CMSG_SPACE(8))
        heads = [head for head, _payload in Decoder().feed(data)]
        if not heads or heads[0].get("ok") is not True or not extra:
            raise OSError("this sandbox was created without egress")
        self._close_way_out()
        (fd,) = struct.unpack("i", extra[0][2][:4])
        listener = self._listener = _socket.socket(fileno=fd)
        listener.setblocking(False)
        self._handlers[fd] = lambda _events: self._accept()
        self._watch(fd, READ)
        return sock

    def _accept(self) -> None:
        assert self._listener is not None
        try:
            fd, _address = self._listener._accept()  # type: ignore[attr-defined]
        except OSError:
            return
        sock = _socket.socket(fileno=fd)
        if len(self._channels) >= MAX_OWN_CHANNELS:
            sock.close()
            return
        number, self._next = self._next, self._next + 2
        self._send(number, OPEN, b"egress")
        self._add(number, sock)

    def _close_way_out(self) -> None:
        if self._listener is not None:
            self._watch(self._listener.fileno(), 0)
            self._handlers.pop(self._listener.fileno(), None)
            self._listener.close()
            self._listener = None


def _connecting(family: int, address: str, port: int) -> Optional[_socket.socket]:
    """A socket that is connected, or about to be; None if it cannot be."""
    try:
        sock = _socket.socket(family, _socket.SOCK_STREAM)
    except OSError:
        return None
    try:
        sock.setblocking(False)
        sock.connect((address, port))
    except BlockingIOError:
        pass
    except OSError:
        sock.close()
        return None
    return sock


def _end(sock: _socket.socket) -> None:
    try:
        sock.shutdown(_socket.SHUT_WR)
    except OSError:
        return  # its other end is gone, which is noticed when it is read


def _to_agent() -> _socket.socket:
    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    sock.connect(ADDRESS)
    return sock

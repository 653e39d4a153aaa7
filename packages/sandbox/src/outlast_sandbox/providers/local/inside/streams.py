"""The ends of pipes and terminals that the agent holds: read without blocking, written as fast as the other takes."""

from __future__ import annotations

import os
import select
from collections import deque

from .effects import Refused
from .loop import READ, WRITE, Loop
from .sessions import Session

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any, Callable

    from .main import Connection

READ_SIZE = 65536
DRAIN_READS = 64
LOOK_AGAIN_S = 0.2
BROKEN = select.EPOLLERR | select.EPOLLHUP


class Reader:
    """Reads until all writers have closed the other end; `on_data` gets the bytes."""

    def __init__(self, loop: Loop, fd: int, on_data: Callable[[bytes], None], terminal: bool = False) -> None:
        self._loop = loop
        self._fd = fd
        self._terminal = terminal
        self._on_data = on_data
        self._paused = True
        os.set_blocking(fd, False)
        self.resume()

    def pause(self) -> None:
        """Unregister the descriptor instead of only masking its events: a hung-up descriptor would be ready all the
        time."""
        if self._fd >= 0 and not self._paused:
            self._paused = True
            self._loop.remove(self._fd)

    def resume(self) -> None:
        if self._fd >= 0 and self._paused:
            self._paused = False
            self._loop.add(self._fd, READ, self._ready)

    def drain(self) -> None:
        """Read the bytes that are available now."""
        for _ in range(DRAIN_READS):
            if not self._take():
                return

    def ignore(self) -> None:
        """Read and drop everything from now on, so that no writer blocks."""
        self._on_data = lambda _data: None
        self.resume()

    def close(self) -> None:
        self.pause()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _ready(self, _events: int) -> None:
        self._take()

    def _take(self) -> bool:
        if self._fd < 0:
            return False
        try:
            data = os.read(self._fd, READ_SIZE)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if data:
            self._on_data(data)
        elif self._terminal:  # no process has it open now, but one of its session may open it again
            self.pause()
            self._loop.after(LOOK_AGAIN_S, self.resume)
        else:
            self.close()
        return bool(data)


class Input(Session):
    """Bytes that one request writes; answered once all are written."""

    def __init__(self, connection: Connection, data: bytes, forget: Callable[[Input], None]) -> None:
        self._connection = connection
        self._forget = forget
        self.rest = memoryview(data)

    def written(self) -> None:
        self._connection.finish()

    def refuse(self, error: Refused) -> None:
        self._connection.refuse(error)

    def proceed(self, _request: dict[str, Any], _payload: bytes) -> None:
        raise Refused("malformed_input", "the previous bytes are not written yet")

    def close(self) -> None:
        self._forget(self)


class Writer:
    """Writes the bytes it gets in order, as fast as the other end reads. It owns the descriptor."""

    def __init__(self, loop: Loop, fd: int) -> None:
        self._loop = loop
        self._fd = fd
        self._waiting: deque[Input] = deque()
        self._registered = False
        self._closing = False
        if fd >= 0:
            os.set_blocking(fd, False)

    def write(self, connection: Connection, data: bytes) -> None:
        """Answer the connection once all bytes are written. Raises `Refused` if it is closed."""
        if self._fd < 0 or self._closing:
            raise _closed()
        request = Input(connection, data, self._forget)
        connection.begin(request)
        self._waiting.append(request)
        self._flush()

    def finish(self) -> None:
        """Close it once all waiting bytes are written."""
        self._closing = True
        self._flush()

    def close(self) -> None:
        """Close it now; waiting requests are refused."""
        self._watch(False)
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)
        waiting, self._waiting = self._waiting, deque()
        for request in waiting:
            request.refuse(_closed())

    def _forget(self, request: Input) -> None:
        if request in self._waiting:
            self._waiting.remove(request)
            self._flush()

    def _ready(self, events: int) -> None:
        self._flush()
        if events & BROKEN and self._waiting:
            self.close()

    def _flush(self) -> None:
        if self._fd < 0:
            return
        try:
            while self._waiting:
                request = self._waiting[0]
                while request.rest:
                    request.rest = request.rest[os.write(self._fd, request.rest[:READ_SIZE]) :]
                self._waiting.popleft()
                request.written()
        except BlockingIOError:
            self._watch(True)
            return
        except OSError:
            self.close()
            return
        self._watch(False)
        if self._closing:
            self.close()

    def _watch(self, wanted: bool) -> None:
        if wanted and not self._registered:
            self._loop.add(self._fd, WRITE, self._ready)
        elif self._registered and not wanted:
            self._loop.remove(self._fd)
        self._registered = wanted


def _closed() -> Refused:
    return Refused("conflict", "its standard input is closed")

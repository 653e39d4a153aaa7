"""The agent's start, its connections and their requests."""

from __future__ import annotations

import _socket
import os
import resource
import struct

from . import files
from .commands import Command
from .disk import DiskWatch
from .effects import Effect, Effects, Listener, Refused
from .frames import BadFrame, Decoder, encode
from .json_text import loads
from .loop import READ, WRITE, Loop
from .ports import Ports
from .repls import ARGV, Job, Repl
from .spawner import Spawner

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any, Callable, Optional, Union

    from .processes import Process, Processes
    from .sessions import Session

    Handler = Callable[["Connection", dict[str, Any], bytes], None]

CONTROL_FD = 3
MAX_UNSENT_BYTES = 256 * 1024
MAX_PASSED = 8
MAX_LISTED = 100_000
VERSION = 1


class Agent:
    """The state of the sandbox: its effects, its REPLs, the environment of its processes."""

    def __init__(self, loop: Loop, spawner: Spawner, config: dict[str, Any], ports: Ports) -> None:
        self.loop = loop
        self.spawner = spawner
        self.env: dict[str, str] = config["env"]
        self._hidden = frozenset(config.get("layers", ()))
        self.effects = Effects()
        self.disk = DiskWatch(loop, spawner, self._running, config["disk_bytes"], config.get("counted", ()))
        self._processes: Optional[Processes] = None
        self._repls: dict[str, Repl] = {}
        self.handlers: dict[str, Handler] = {
            "hello": self._hello,
            "continue": self._continue,
            "run": self._run,
            "evaluate": self._evaluate,
            "acknowledge": self._acknowledge,
            "kill": self._kill,
            "end_sessions": self._end_sessions,
            "make_room": self._make_room,
            "thawed": self._thawed,
            "write": self._write,
            "read": self._read,
            "list": self._list,
            "dial": ports.dial,
            "egress": ports.egress,
        }

    def handler(self, op: str) -> Optional[Handler]:
        """The handler of `op`. The interactive parts are loaded at their first use, so that the start stays fast."""
        if op not in self.handlers and op.startswith("process_"):
            from .processes import Processes

            self._processes = Processes(self)
            self.handlers.update(self._processes.handlers)
        elif op not in self.handlers and op.startswith("file_"):
            from .anyfiles import AnyFiles

            self.handlers.update(AnyFiles(self).handlers)
        return self.handlers.get(op)

    def _running(self) -> list[Union[Effect, Process]]:
        return [*self.effects.running(), *(self._processes.running() if self._processes else ())]

    def _continue(self, connection: Connection, request: dict[str, Any], payload: bytes) -> None:
        connection.proceed(request, payload)

    def _hello(self, connection: Connection, _request: dict[str, Any], _payload: bytes) -> None:
        connection.reply(version=VERSION, effects=self.effects.summary())

    def _run(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        effect, known = self._effect(request)
        connection.follow(effect)
        if not known:
            Command(self.loop, self.spawner, effect, request, self.env)

    def _evaluate(self, connection: Connection, request: dict[str, Any], payload: bytes) -> None:
        language = request["language"]
        if language not in ARGV:
            raise Refused("arguments_invalid", f"there is no language {language!r}; known: {', '.join(sorted(ARGV))}")
        effect, known = self._effect(request)
        connection.follow(effect)
        if not known:
            if language not in self._repls:
                self._repls[language] = Repl(self.loop, self.spawner, language, self.env)
            self._repls[language].submit(Job(effect, payload.decode(), float(request["timeout_s"])))

    def _effect(self, request: dict[str, Any]) -> tuple[Effect, bool]:
        effect = self.effects.find(request["effect"], int(request["attempt"]))
        if effect is not None:
            return effect, True
        if request.get("attach_only"):
            raise Refused("unknown_effect", f"the effect {request['effect']} is unknown here")
        effect = Effect(request["effect"], int(request["attempt"]), int(request["limit"]))
        self.effects.add(effect)
        self.disk.wake()
        return effect, False

    def _acknowledge(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        self.effects.acknowledge(request["effect"])
        connection.reply()

    def _kill(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        effect = self.effects.get(request["effect"])
        if effect is not None and effect.result is None:
            effect.stop(request["reason"])
        connection.reply(known=effect is not None)

    def _end_sessions(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        connection.reply(ended=sum(repl.rest() for repl in self._repls.values()))

    def _make_room(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        connection.reply(ended=self.spawner.make_room(int(request["limit"])))

    def _thawed(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        self.loop.shift_timers(float(request["seconds"]))
        connection.reply()

    def _write(self, connection: Connection, request: dict[str, Any], payload: bytes) -> None:
        start, parts = 0, []
        for path, size in request["files"]:
            parts.append((str(path), payload[start : start + size]))
            start += size
        self.disk.check_room(len(payload))
        files.write(parts)
        connection.reply()

    def _read(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        data, size = files.read(request["path"], int(request["max_bytes"]))
        connection.reply(data, size=size)

    def _list(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        limit = min(int(request["limit"]), MAX_LISTED)
        connection.reply(entries=files.entries(request["prefix"], limit, self._hidden))


class Connection(Listener):
    """One socket to the server: one request at a time, answered by `reply`, or by the output and end of an effect."""

    def __init__(self, agent: Agent, sock: _socket.socket) -> None:
        self._agent = agent
        self._sock = sock
        self._decoder = Decoder()
        self._out = bytearray()
        self._effect: Optional[Effect] = None
        self._sent = 0
        self._session: Optional[Session] = None
        self._passing: list[int] = []
        self.on_close: Optional[Callable[[], None]] = None
        sock.setblocking(False)
        agent.loop.add(sock.fileno(), READ, self._ready)

    def reply(self, payload: bytes = b"", **head: Any) -> None:
        self._write(encode({"ok": True, **head}, payload))

    def pass_on(self, fd: int) -> None:
        """Answer with a copy of a descriptor, which is sent with the response's first bytes."""
        self._passing.append(os.dup(fd))
        self.reply()

    def begin(self, session: Session) -> None:
        """Pass further requests to `session`, until `finish` or `refuse`."""
        self._session = session

    def proceed(self, request: dict[str, Any], payload: bytes) -> None:
        if self._session is None:
            raise Refused("malformed_input", "there is no session on this connection")
        self._session.proceed(request, payload)

    def finish(self, payload: bytes = b"", **head: Any) -> None:
        """Send the last response of a session."""
        self._session = None
        self.reply(payload, end=True, **head)

    def refuse(self, error: Refused) -> None:
        self._effect = None
        self._leave_session()
        head: dict[str, Any] = {"ok": False, "code": error.code, "message": str(error)}
        self._write(encode(head if error.hint is None else {**head, "hint": error.hint}))

    def follow(self, effect: Effect) -> None:
        self._effect, self._sent = effect, 0
        effect.listen(self)

    def pump(self) -> None:
        """Send as much output of the effect as the socket accepts; the result comes last, with the rest of the
        output."""
        effect = self._effect
        if effect is None or len(self._out) > MAX_UNSENT_BYTES:
            return
        new = bytes(effect.output.head[self._sent : self._sent + MAX_UNSENT_BYTES])
        self._sent += len(new)
        if effect.result is not None and self._sent == len(effect.output.head):
            self._effect, effect.listener = None, None
            self._write(encode({"ok": True, "end": True, **effect.result}, new + effect.output.rest()))
        elif new:
            self._write(encode({"ok": True, "end": False}, new))

    def _ready(self, events: int) -> None:
        if events & WRITE:
            self._flush()
        if events & ~WRITE:
            self._receive()

    def _receive(self) -> None:
        try:
            data = self._sock.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        try:
            for head, payload in self._decoder.feed(data):
                self._handle(head, payload)
        except BadFrame:
            data = b""
        if not data:
            self._close()

    def _handle(self, head: dict[str, Any], payload: bytes) -> None:
        try:
            handler = self._agent.handler(str(head.get("op")))
            if handler is None:
                raise Refused("malformed_input", f"the agent does not support the request {head.get('op')!r}")
            handler(self, head, payload)
        except Refused as error:
            self.refuse(error)
        except Exception as error:  # an error in one request must not end the agent
            self.refuse(Refused("malformed_input", f"{type(error).__name__}: {error}"))

    def _write(self, data: bytes) -> None:
        self._out += data
        self._flush()

    def _flush(self) -> None:
        if self._sock.fileno() < 0:
            return
        try:
            while self._out:
                del self._out[: self._send(memoryview(self._out)[: 1 << 18])]
        except BlockingIOError:
            pass
        except OSError:
            self._close()
            return
        self._agent.loop.change(self._sock.fileno(), READ | (WRITE if self._out else 0))
        effect = self._effect
        if not self._out and effect is not None and (effect.result or self._sent < len(effect.output.head)):
            self.pump()

    def _send(self, data: memoryview) -> int:
        if not self._passing:
            return self._sock.send(data)
        descriptors = struct.pack(f"{len(self._passing)}i", *self._passing)
        sent = self._sock.sendmsg([data], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptors)])
        self._drop_passing()
        return sent

    def _drop_passing(self) -> None:
        while self._passing:
            os.close(self._passing.pop())

    def _leave_session(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _close(self) -> None:
        if self._sock.fileno() < 0:
            return
        self._drop_passing()
        self._leave_session()
        if self.on_close is not None:
            self.on_close()
            self.on_close = None
        if self._effect is not None and self._effect.listener is self:
            self._effect.listener = None
        self._effect = None
        self._agent.loop.remove(self._sock.fileno())
        self._sock.close()


def start_agent(loop: Loop, spawner: Spawner, config: dict[str, Any]) -> Agent:
    """Create the agent as the server configured it, with its limits in force."""
    for name, value in config["rlimits"]:
        resource.setrlimit(getattr(resource, name), (value, value))
    return Agent(loop, spawner, config, Ports(loop, bool(config.get("egress"))))


def main() -> None:
    """Run the agent. Descriptor 3 is the shim's: first it sends the configuration as JSON, then one message per
    connection."""
    os.closerange(4, 4096)
    os.set_inheritable(CONTROL_FD, False)
    loop = Loop()
    spawner = Spawner(loop.reap)
    control = _socket.socket(fileno=CONTROL_FD)
    message = control.recv(1 << 20)
    if not message:
        return  # the server gave up the start
    agent = start_agent(loop, spawner, loads(message))

    def accept(_events: int) -> None:
        message, extra, _flags, _address = control.recvmsg(16, _socket.CMSG_SPACE(4 * MAX_PASSED))
        if not message:
            os._exit(0)  # the shim is gone, so this sandbox can no longer be reached or ended
        for level, kind, data in extra:
            if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
                for (fd,) in struct.iter_unpack("i", data[: len(data) // 4 * 4]):
                    os.set_inheritable(fd, False)
                    Connection(agent, _socket.socket(fileno=fd))

    loop.add(CONTROL_FD, READ, accept)
    control.send(b"ready")
    loop.run()

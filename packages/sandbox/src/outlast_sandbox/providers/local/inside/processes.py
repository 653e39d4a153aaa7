"""Interactive processes: started with pipes or a terminal, followed, written to and signalled by their pid.

They live until they end or are killed, followed or not. An ended process is kept until a follower has received its end,
at most `MAX_ENDED` of them.
"""

from __future__ import annotations

import errno
import os
import stat
import struct

from .commands import WORKSPACE
from .effects import Refused
from .outputs import Outputs
from .pages import Pages
from .streams import Reader, Writer

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    import signal
    from typing import Any, Callable

    from .loop import Loop
    from .main import Agent, Connection
    from .spawner import Child, Spawner
else:
    import _signal as signal  # `signal` would load `enum`

MAX_RUNNING = 512
MAX_ENDED = 32
MAX_WRITE_BYTES = 1024 * 1024
TERMINAL_ENV = {"TERM": "xterm-256color"}
NOT_IN_A_TERMINAL = ("NO_COLOR",)
WHY = {"disk": "the workspace exceeds its disk limit"}


class Processes:
    """All interactive processes by pid, and the requests about them."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._processes: dict[int, Process] = {}
        self.handlers: dict[str, Callable[[Connection, dict[str, Any], bytes], None]] = {
            "process_start": self._start,
            "process_list": self._list,
            "process_follow": self._follow,
            "process_write": self._write,
            "process_close_stdin": self._close_stdin,
            "process_resize": self._resize,
            "process_signal": self._signal,
        }

    def running(self) -> list[Process]:
        return [process for process in self._processes.values() if process.outputs.end is None]

    def _start(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        self._prune()
        if len(self.running()) >= MAX_RUNNING:
            raise Refused("sandbox_unavailable", f"{MAX_RUNNING} interactive processes are already running")
        process = Process(self._agent.loop, self._agent.spawner, request, self._agent.env)
        self._processes[process.pid] = process
        self._agent.disk.wake()
        connection.reply(pid=process.pid)

    def _prune(self) -> None:
        ended = [process for process in self._processes.values() if process.outputs.end is not None]
        unread = [process for process in ended if not process.is_done()]
        gone = [process for process in ended if process.is_done()] + unread[: max(0, len(unread) - MAX_ENDED)]
        for process in gone:
            del self._processes[process.pid]

    def _list(self, connection: Connection, _request: dict[str, Any], _payload: bytes) -> None:
        Pages(connection, iter([{"pid": process.pid, **process.spec} for process in self.running()])).start()

    def _follow(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        self._find(request).outputs.follow(connection)

    def _write(self, connection: Connection, request: dict[str, Any], payload: bytes) -> None:
        if len(payload) > MAX_WRITE_BYTES:
            raise Refused("arguments_invalid", f"write at most {MAX_WRITE_BYTES} bytes at once")
        self._find(request).stdin.write(connection, payload)

    def _close_stdin(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        process = self._find(request)
        if process.spec["terminal"]:
            raise Refused("conflict", "a terminal cannot be closed; write the byte 4 (end of transmission) to it")
        process.stdin.finish()
        connection.reply()

    def _resize(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        self._find(request).resize(request["terminal"])
        connection.reply()

    def _signal(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        process, number = self._find(request), int(request["number"])
        if process.outputs.end is not None:
            raise _unknown(process.pid)
        if number not in signal.valid_signals():
            raise Refused("arguments_invalid", f"there is no signal {number}")
        process.signal(number, bool(request["group"]))
        connection.reply()

    def _find(self, request: dict[str, Any]) -> Process:
        process = self._processes.get(int(request["pid"]))
        if process is None or process.is_done():
            raise _unknown(request["pid"])
        return process


class Process:
    """One process with the agent's ends of its pipes or its terminal. Raises `Refused` if it cannot be started."""

    def __init__(self, loop: Loop, spawner: Spawner, request: dict[str, Any], base_env: dict[str, str]) -> None:
        self.spec = {name: request[name] for name in ("argv", "cwd", "env", "terminal", "stdin", "tag")}
        self._loop = loop
        self._terminal = -1
        self.outputs = Outputs(loop, self._hold)
        self._readers: list[Reader] = []
        size = self.spec["terminal"]
        cwd = os.path.normpath(os.path.join(WORKSPACE, str(request["cwd"])))
        env = _environment({**base_env, "PWD": cwd}, request["env"], bool(size))
        start = self._start_in_terminal if size else self._start_with_pipes
        try:
            argv = [_program(request["argv"][0], env, cwd), *request["argv"]]
            self._child = start(spawner, argv, env, cwd)
        except OSError as error:
            raise _not_started(error, request["argv"][0], cwd) from error
        self.pid = self._child.pid
        loop.on_status(self.pid, self._ended)
        if self._child.made_room:
            self._say(f"the process limit was reached: {self._child.made_room} background processes were ended")

    def is_done(self) -> bool:
        """True if its end was delivered and it has no followers left."""
        return self.outputs.end_told and not self.outputs.followers

    def signal(self, number: int, group: bool) -> None:
        if group and number == signal.SIGKILL:
            self._child.kill_tree()
        elif group:
            self._child.signal_tree(number)
        else:
            os.kill(self.pid, number)

    def stop(self, reason: str) -> None:
        """End it with all its descendants, and write the reason to its output."""
        self._say(f"ended: {WHY.get(reason, reason)}")
        self._child.kill_tree()

    def resize(self, size: list[int]) -> None:
        if self._terminal < 0:
            raise Refused("conflict", "it has no terminal, or its terminal is closed")
        import fcntl
        import termios

        columns, rows = (min(max(int(number), 1), 65535) for number in size)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _start_with_pipes(self, spawner: Spawner, argv: list[str], env: dict[str, str], cwd: str) -> Child:
        pairs = [os.pipe() for _ in range(3)] if self.spec["stdin"] else [os.pipe() for _ in range(2)]
        outs, ins = pairs[:2], pairs[2:]
        stdin = ins[0][0] if ins else os.open("/dev/null", os.O_RDONLY)
        theirs = (stdin, outs[0][1], outs[1][1])
        ours = [outs[0][0], outs[1][0], *(pair[1] for pair in ins)]
        try:
            child = spawner.spawn(argv[1:], env, cwd, theirs, program=argv[0])
        except (OSError, ValueError, TypeError):
            for fd in ours:
                os.close(fd)
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        self.stdin = Writer(self._loop, ours[2] if ins else -1)
        self._read(ours[0], "stdout")
        self._read(ours[1], "stderr")
        return child

    def _start_in_terminal(self, spawner: Spawner, argv: list[str], env: dict[str, str], cwd: str) -> Child:
        self._terminal, theirs = os.openpty()
        try:
            self.resize(self.spec["terminal"])
            child = spawner.spawn(argv[1:], env, cwd, (), program=argv[0], terminal=os.ttyname(theirs))
        except (OSError, ValueError, TypeError):
            os.close(self._terminal)
            raise
        finally:
            os.close(theirs)
        self.stdin = Writer(self._loop, os.dup(self._terminal))
        self._read(self._terminal, "terminal")
        return child

    def _read(self, fd: int, stream: str) -> None:
        def add(data: bytes) -> None:
            self.outputs.add(stream, data)

        self._readers.append(Reader(self._loop, fd, add, terminal=stream == "terminal"))

    def _say(self, text: str) -> None:
        stream = "terminal" if self.spec["terminal"] else "stderr"
        self.outputs.add(stream, f"[{text}]\r\n".encode() if stream == "terminal" else f"[{text}]\n".encode())

    def _hold(self, held: bool) -> None:
        for reader in self._readers:
            if held:
                reader.pause()
            else:
                reader.resume()

    def _ended(self, status: int) -> None:
        self._child.ended = True
        for reader in self._readers:
            reader.drain()
        self.stdin.close()
        killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        code = os.WEXITSTATUS(status) if killed is None else 128 + killed
        self.outputs.finish(exit_code=code, signal=killed)
        for reader in self._readers:
            if self._terminal >= 0:
                reader.close()
            else:  # background processes may go on writing; it is not kept, but they must not block
                reader.ignore()
        self._terminal = -1


def _environment(base: dict[str, str], own: dict[str, str], terminal: bool) -> dict[str, str]:
    """The environment of all processes inside, the terminal's variables, and those of the caller."""
    if not terminal:
        return {**base, **own}
    inherited = {name: value for name, value in base.items() if name not in NOT_IN_A_TERMINAL}
    return {**inherited, **TERMINAL_ENV, **own}


def _program(name: str, env: dict[str, str], cwd: str) -> str:
    """The path of the program that a command's first word names. Raises OSError."""
    if "/" in name:
        return name
    for folder in env.get("PATH", "").split(":"):
        path = os.path.join(cwd, folder, name)
        if os.access(path, os.X_OK) and stat.S_ISREG(os.stat(path).st_mode):
            return path
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)


def _not_started(error: OSError, program: str, cwd: str) -> Refused:
    if error.errno in (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC):
        return Refused("sandbox_unavailable", f"no process can be started now: {error.strerror}")
    if not os.path.isdir(cwd):
        return Refused("not_found", f"there is no folder {cwd!r} to start it in")
    if error.errno == errno.ENOENT:
        return Refused("not_found", f"there is no program {program!r}")
    return Refused("arguments_invalid", f"{program!r} cannot be started: {error.strerror}")


def _unknown(pid: int) -> Refused:
    return Refused("not_found", f"no interactive process {pid} runs here")

"""Shell commands: started in /workspace, output collected, ended at their time limit, result kept."""

from __future__ import annotations

import errno
import os

from .effects import Effect
from .loop import READ, Loop, Timer
from .spawner import Child, Spawner

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any, Optional

WORKSPACE = os.environ.get("OUTLAST_WORKSPACE") or "/workspace"  # set only in a hosted sandbox
READ_SIZE = 65536
DRAIN_READS = 64
SHELL = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"


class Pipe:
    """The reading end of a process's output. Kept open and read until all writers have closed the other end."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._read_end, self.write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        self.effect: Optional[Effect] = None
        loop.add(self._read_end, READ, self._ready)

    def close_writer(self) -> None:
        """After the fork: from now on only the child holds the writing end."""
        os.close(self.write_end)

    def drain(self) -> None:
        """Read the bytes that are in the pipe now."""
        for _ in range(DRAIN_READS):
            if not self._take():
                return

    def _ready(self, _events: int) -> None:
        self._take()

    def _take(self) -> bool:
        if self._read_end < 0:
            return False
        try:
            data = os.read(self._read_end, READ_SIZE)
        except BlockingIOError:
            return False
        if not data:
            self._loop.remove(self._read_end)
            os.close(self._read_end)
            self._read_end = -1
            return False
        if self.effect is not None:
            self.effect.add_output(data)
        return True


class Command:
    """One running command. Its result is kept in the effect: exit_code, killed_reason, timed_out, truncated,
    duration_s."""

    def __init__(
        self, loop: Loop, spawner: Spawner, effect: Effect, request: dict[str, Any], base_env: dict[str, str]
    ) -> None:
        self._effect = effect
        self._reason: Optional[str] = None
        self._timer: Optional[Timer] = None
        self._pipe = Pipe(loop)
        self._pipe.effect = effect
        try:
            self._child = self._start(spawner, request, base_env)
        except OSError as error:
            self._not_started(error)
            return
        finally:
            self._pipe.close_writer()
        effect.stop = self._stop
        if self._child.made_room:
            notice = f"[the process limit was reached: {self._child.made_room} background processes were ended]\n"
            effect.add_output(notice.encode())
        loop.on_exit(self._child.pid, self._ended)
        if request.get("timeout_s") is not None:
            self._timer = loop.after(float(request["timeout_s"]), lambda: self._stop("timeout"))

    def _start(self, spawner: Spawner, request: dict[str, Any], base_env: dict[str, str]) -> Child:
        cwd = os.path.join(WORKSPACE, str(request.get("cwd") or "."))
        env = {**base_env, **request.get("env", {})}
        null = os.open("/dev/null", os.O_RDONLY)
        try:
            writer = self._pipe.write_end
            return spawner.spawn([SHELL, "-c", request["script"]], env, cwd, (null, writer, writer))
        finally:
            os.close(null)

    def _not_started(self, error: OSError) -> None:
        full = error.errno in (errno.EAGAIN, errno.ENOMEM)
        what = f"{error.filename}: " if error.filename else ""
        self._effect.add_output(f"the command could not be started: {what}{error.strerror}\n".encode())
        self._effect.finish(
            exit_code=126 if full else 127, killed_reason="processes" if full else None, timed_out=False
        )

    def _stop(self, reason: str) -> None:
        if self._effect.result is None and self._reason is None:
            self._reason = reason
            self._child.kill_tree()

    def _ended(self, exit_code: int) -> None:
        self._child.ended = True
        if self._timer is not None:
            self._timer.cancel()
        self._pipe.drain()
        # Background processes of the command may go on writing; their output is not kept, but they must not block.
        self._pipe.effect = None
        timed_out = self._reason == "timeout"
        self._effect.finish(exit_code=exit_code, killed_reason=None if timed_out else self._reason, timed_out=timed_out)

"""`run_code`: one REPL process per language and sandbox, started at the first call, whose variables persist.

Both use a little-endian length and JSON on their descriptor 3. Python's is `python_runner.py`. TypeScript's is `deno
repl --json`, an undocumented mode of a pinned Deno (a test guards its wire format): code runs with `output: false` and
then a helper turns the last value `_` (or `_error`) into JSON. An endless loop ends the process; the next call starts a
new one.
"""

from __future__ import annotations

import _socket
import os
import struct
from collections import deque

from .commands import WORKSPACE, Pipe
from .effects import Effect
from .json_text import dumps, loads
from .loop import READ, WRITE, Loop, Timer
from .spawner import Child, Spawner

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any, Callable, Optional

TOOLS = os.environ.get("OUTLAST_TOOLS") or "/opt/outlast"  # set only in a hosted sandbox
ARGV = {
    "python": ["/usr/bin/env", "python3", "-u", f"{TOOLS}/inside/python_runner.py"],
    "typescript": [f"{TOOLS}/bin/deno", "repl", "--json", "--allow-all"],
}
WHY = {"timeout": "stopped after {:g} s", "disk": "stopped: the workspace exceeds its disk limit"}
MAX_REPLY_BYTES = 16 * 1024 * 1024

# The value as text and, if it can be serialized, as JSON. A promise is awaited first; `_` itself is not.
DESCRIBE_VALUE = """await (async (v) => {
  const show = (x) => Deno.inspect(x, { colors: false, depth: 6, iterableLimit: 200, strAbbreviateSize: 20000 });
  try { v = await v; } catch (e) { return JSON.stringify({ error: show(e) }); }
  if (v === undefined) return JSON.stringify({ text: "", json: null });
  const text = show(v).slice(0, 200000);
  const isRecord = (x) => [Object.prototype, null].includes(Object.getPrototypeOf(x));
  const isPlain = (x) => {
    if (x === null || typeof x === "string" || typeof x === "boolean" || Number.isFinite(x)) return true;
    if (Array.isArray(x)) return x.every(isPlain);
    if (typeof x !== "object") return false;
    const allPlain = () => Object.values(x).every((y) => y === undefined || isPlain(y));
    return typeof x.toJSON === "function" || isRecord(x) && allPlain();
  };
  let json;
  try { if (isPlain(v)) json = JSON.stringify(v); } catch { /* cyclic */ }
  const head = '{"text":' + JSON.stringify(text);
  return json === undefined || json.length > 200000 ? head + "}" : head + ',"json":' + json + "}";
})(_)"""
DESCRIBE_ERROR = """(() => {
  const text = Deno.inspect(_error, { colors: false });
  return (_error instanceof Error ? text : "Uncaught " + text).slice(0, 200000);
})()"""


class Job:
    """One evaluation that is queued or running."""

    def __init__(self, effect: Effect, code: str, timeout_s: float) -> None:
        self.effect = effect
        self.code = code
        self.timeout_s = timeout_s
        self.stage = "code"
        self.timer: Optional[Timer] = None


class Repl:
    """One language's process and its evaluations, one at a time in the order received."""

    def __init__(self, loop: Loop, spawner: Spawner, language: str, env: dict[str, str]) -> None:
        self._loop = loop
        self._spawner = spawner
        self._language = language
        self._env = env
        self._waiting: deque[Job] = deque()
        self._job: Optional[Job] = None
        self._process: Optional[_Process] = None

    def submit(self, job: Job) -> None:
        job.effect.stop = lambda reason: self._stop(job, reason)
        self._waiting.append(job)
        self._next()

    def rest(self) -> bool:
        """End an idle process with its variables; the next evaluation starts a new one. Returns True if it was
        ended."""
        if self._process is None or self._job is not None:
            return False
        self._process.end()
        self._process = None
        return True

    def _next(self) -> None:
        if self._job is not None or not self._waiting:
            return
        job = self._job = self._waiting.popleft()
        if self._process is None:
            try:
                self._process = _Process(self._loop, self._start, self._reply, self._died)
            except OSError as error:
                self._finish(error=f"{self._language} could not be started here: {error.strerror}")
                return
        self._process.pipe.effect = job.effect
        job.timer = self._loop.after(job.timeout_s, lambda: self._stop(job, "timeout"))
        self._send(job.code, output=False)

    def _start(self, stdio: tuple[int, ...]) -> Child:
        return self._spawner.spawn(ARGV[self._language], self._env, WORKSPACE, stdio)

    def _send(self, code: str, output: bool) -> None:
        assert self._process is not None
        self._process.send({"type": "Run", "code": code, "output": output})

    def _reply(self, reply: dict[str, Any]) -> None:
        job = self._job
        if job is None:
            return
        if self._language == "python":
            self._finish(reply.get("error"), reply.get("result"), str(reply.get("text", "")))
        elif reply.get("type") == "Error":
            self._finish(str(reply.get("error")))
        elif job.stage == "code":
            failed = reply.get("type") != "RunSuccess"
            job.stage = "error" if failed else "value"
            self._send(DESCRIBE_ERROR if failed else DESCRIBE_VALUE, output=True)
        elif job.stage == "error":
            self._finish(str(reply.get("output") or reply.get("text")))
        else:
            self._finish_value(reply)

    def _finish_value(self, reply: dict[str, Any]) -> None:
        try:
            value = loads(reply["output"])
        except (KeyError, ValueError, TypeError):
            self._finish(f"the value could not be displayed: {reply.get('text') or 'no output'}")
            return
        text = str(value.get("text", ""))
        self._finish(value.get("error"), value.get("json", text), text)

    def _finish(self, error: Optional[str] = None, result: Any = None, text: str = "") -> None:
        job, self._job = self._job, None
        if job is None:
            return
        if job.timer is not None:
            job.timer.cancel()
        if self._process is not None:
            self._process.pipe.drain()
            self._process.pipe.effect = None
        job.effect.finish(success=error is None, result=None if error else result, text=text, error=error)
        self._next()

    def _stop(self, job: Job, reason: str) -> None:
        if job in self._waiting:
            self._waiting.remove(job)
            job.effect.finish(success=False, result=None, text="", error="stopped before it started")
        elif job is self._job and self._process is not None:
            why = WHY.get(reason, f"stopped: {reason}").format(job.timeout_s)
            self._process.end()
            self._process = None
            self._finish(
                f"{why}. The {self._language} session was ended and its variables are lost;"
                " the next call starts a new one."
            )

    def _died(self, process: _Process, exit_code: int) -> None:
        if process is self._process:
            self._process = None
            process.pipe.drain()
            self._finish(
                f"the {self._language} session ended during the call (exit code {exit_code}); its variables are lost"
                " and the next call starts a new one."
            )


class _Process:
    """The REPL's process with its channel (descriptor 3) and its output."""

    def __init__(
        self,
        loop: Loop,
        start: Callable[[tuple[int, ...]], Child],
        on_reply: Callable[[dict[str, Any]], None],
        on_death: Callable[[_Process, int], None],
    ) -> None:
        self._loop = loop
        self._on_reply = on_reply
        self._in = bytearray()
        self._out = bytearray()
        self.pipe = Pipe(loop)
        ours, theirs = _socket.socketpair()
        null = os.open("/dev/null", os.O_RDONLY)
        writer = self.pipe.write_end
        try:
            self._child = start((null, writer, writer, theirs.fileno()))
        except OSError:
            ours.close()
            raise
        finally:
            os.close(null)
            theirs.close()
            self.pipe.close_writer()
        ours.setblocking(False)
        self._channel: Optional[_socket.socket] = ours
        loop.add(ours.fileno(), READ, self._ready)
        loop.on_exit(self._child.pid, lambda code: self._exited(on_death, code))

    def send(self, message: dict[str, Any]) -> None:
        text = dumps(message).encode()
        self._out += struct.pack("<I", len(text)) + text
        self._flush()

    def end(self) -> None:
        """Stop the process and all its descendants; later replies are ignored."""
        self._close()
        self._child.kill_tree()

    def _exited(self, on_death: Callable[[_Process, int], None], code: int) -> None:
        self._child.ended = True
        if self._channel is not None:
            self._ready(READ)  # a reply may be in the channel
        self._close()
        on_death(self, code)

    def _close(self) -> None:
        if self._channel is not None:
            self._loop.remove(self._channel.fileno())
            self._channel.close()
            self._channel = None

    def _ready(self, _events: int) -> None:
        self._flush()
        try:
            while self._channel is not None:
                data = self._channel.recv(1 << 18)
                if not data:
                    self._close()
                    return
                self._in += data
                self._frames()
        except BlockingIOError:
            return
        except OSError:
            self._close()

    def _frames(self) -> None:
        while len(self._in) >= 4 and self._channel is not None:
            (size,) = struct.unpack_from("<I", self._in)
            if size > MAX_REPLY_BYTES:
                self.end()
                return
            if len(self._in) < 4 + size:
                return
            text = bytes(self._in[4 : 4 + size])
            del self._in[: 4 + size]
            try:
                reply = loads(text)
            except ValueError:
                reply = {"type": "Error", "error": "the session sent an invalid reply"}
            self._on_reply(reply if isinstance(reply, dict) else {})

    def _flush(self) -> None:
        if self._channel is None:
            return
        try:
            while self._out:
                del self._out[: self._channel.send(self._out)]
        except BlockingIOError:
            pass
        except OSError:
            self._close()
            return
        self._loop.change(self._channel.fileno(), READ | (WRITE if self._out else 0))

"""Sandboxes in memory, for tests that need the behaviour without the isolation.

    async with MemoryProvider() as provider:
        sandbox = await provider.create(SandboxSpec(new_id("sandbox"), Path("any")))
        result = await sandbox.run(Command("eff_1", 1, "echo hello > a.txt; cat a.txt"))

Commands run in a small built-in shell: `;`, `&&`, `>`, `>>`, and the words in `_BUILTINS`; others answer "not found"
(127) unless `respond` names them. Python code is really executed in this process, TypeScript only if it is JSON or
arithmetic, so use it only with your own test code. There is no isolation.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import json
import posixpath
import shlex
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from outlast_sandbox.errors import Conflict, FenceLost, MalformedInput, NotFound, PathRefused, SandboxLost
from outlast_sandbox.interface import (
    Capabilities,
    Command,
    CommandResult,
    Evaluation,
    EvaluationResult,
    FileEntry,
    OnOutput,
    ProbeReport,
    SandboxSpec,
    SandboxStatistics,
)
from outlast_sandbox.providers.unsupported import ProviderDefaults, SandboxDefaults

Responder = Callable[["Job", Sequence[str]], Awaitable[int]]
"""Runs one command word: writes with `job.write`, reads and changes `job.files`, returns the exit code."""


@dataclass(eq=False)
class Job:
    """One command or evaluation, kept until acknowledged."""

    effect_id: str
    attempt: int
    limit: int
    files: dict[str, bytes]
    output: str = ""
    result: CommandResult | EvaluationResult | None = None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    killed_reason: str | None = None
    news: anyio.Event = field(default_factory=anyio.Event)

    def write(self, text: str) -> None:
        self.output += text
        self.ring()

    def ring(self) -> None:
        self.news.set()
        self.news = anyio.Event()

    def limited_output(self) -> tuple[str, bool]:
        """(the output within its limit, whether its middle was left out)."""
        excess = len(self.output) - self.limit
        if excess <= 0:
            return self.output, False
        head = self.limit * 3 // 4
        tail = self.output[head + excess :]
        return f"{self.output[:head]}\n[… {excess} bytes of output left out …]\n{tail}", True


class MemoryProvider(ProviderDefaults):
    """See `SandboxProvider`. Its sandboxes end with its `async with` block. `lose` makes one vanish. A subclass may
    name another `sandbox_class`."""

    sandbox_class: type[MemorySandbox]

    def __init__(self, *, capabilities: Capabilities | None = None) -> None:
        self._capabilities = capabilities or Capabilities(pause=True, volume=True, reattach=True)
        self._sandboxes: dict[str, MemorySandbox] = {}
        self._files: dict[Path, dict[str, bytes]] = {}
        self._responders: dict[str, Responder] = {}
        self._tasks: TaskGroup | None = None
        self.created: list[str] = []

    async def __aenter__(self) -> Self:
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._tasks is not None
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)

    @property
    def name(self) -> str:
        return "memory"

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    def respond(self, word: str, responder: Responder) -> None:
        """Let `responder` run every command that begins with `word`."""
        self._responders[word] = responder

    def lose(self, sandbox_id: str) -> None:
        """Make the sandbox disappear, as if its machine had died; the files stay."""
        self._sandboxes.pop(sandbox_id).end("lost")

    async def probe(self) -> ProbeReport:
        return ProbeReport(True, "none in memory: for tests only")

    async def create(self, spec: SandboxSpec) -> MemorySandbox:
        assert self._tasks is not None, "use it in an `async with` block"
        await anyio.lowlevel.checkpoint()
        files = self._files.setdefault(spec.workspace_dir, {})
        sandbox = self.sandbox_class(spec, files, {**_BUILTINS, **self._responders}, self._tasks)
        self._sandboxes[spec.sandbox_id] = sandbox
        self.created.append(spec.sandbox_id)
        if self._capabilities.shared:  # each start can be told from the one before
            sandbox.ref = f"{sandbox.ref}:{len(self.created)}"
        return sandbox

    async def connect(self, sandbox_id: str, ref: str) -> MemorySandbox:
        await anyio.lowlevel.checkpoint()
        sandbox = self._sandboxes.get(sandbox_id)
        if sandbox is None or sandbox.ref != ref or not sandbox.alive:
            raise SandboxLost(f"the sandbox {sandbox_id} is gone", sandbox_id=sandbox_id)
        return sandbox

    async def list_refs(self) -> list[tuple[str, str]]:
        await anyio.lowlevel.checkpoint()
        return [(sandbox.sandbox_id, sandbox.ref) for sandbox in self._sandboxes.values() if sandbox.alive]


class MemorySandbox(SandboxDefaults):
    """See `Sandbox`."""

    def __init__(
        self, spec: SandboxSpec, files: dict[str, bytes], words: dict[str, Responder], tasks: TaskGroup
    ) -> None:
        self._spec = spec
        self._files = files
        self._words = words
        self._tasks = tasks
        self._jobs: dict[str, Job] = {}
        self._acknowledged: set[str] = set()
        self._variables: dict[str, dict[str, Any]] = {"python": {}, "typescript": {}}
        self._awake = anyio.Event()
        self._awake.set()
        self.alive = True
        self.ref = f"memory:{spec.sandbox_id}"

    @property
    def sandbox_id(self) -> str:
        return self._spec.sandbox_id

    @property
    def fence(self) -> int:
        return self._spec.fence

    def is_frozen(self) -> bool:
        return not self._awake.is_set()

    async def run(self, command: Command, on_output: OnOutput | None = None) -> CommandResult:
        await self._ready()
        job = self._find_job(command.effect_id, command.attempt)
        if job is None:
            job = self._new_job(command)
            self._tasks.start_soon(self._perform, job, command)
        result = await self._follow(job, command.attempt, on_output)
        assert isinstance(result, CommandResult)
        return result

    async def evaluate(self, evaluation: Evaluation, on_output: OnOutput | None = None) -> EvaluationResult:
        await self._ready()
        job = self._find_job(evaluation.effect_id, evaluation.attempt)
        if job is None:
            job = self._new_job(evaluation)
            job.result = self._evaluated(job, evaluation)
        result = await self._follow(job, evaluation.attempt, on_output)
        assert isinstance(result, EvaluationResult)
        return result

    async def acknowledge(self, effect_id: str) -> None:
        await self._ready()
        job = self._jobs.get(effect_id)
        if job is not None and job.result is not None:
            del self._jobs[effect_id]
            self._acknowledged.add(effect_id)

    async def kill_command(self, effect_id: str, reason: str = "cancelled") -> None:
        await self._ready()
        job = self._jobs.get(effect_id)
        if job is not None and job.result is None:
            job.killed_reason = reason
            job.scope.cancel()

    async def end_sessions(self) -> int:
        await self._ready()
        used = [variables for variables in self._variables.values() if variables]
        for variables in used:
            variables.clear()
        return len(used)

    async def write_files(self, files: Sequence[tuple[str, bytes]]) -> None:
        await self._ready()
        checked = [(_relative(path), data) for path, data in files]
        for path, data in checked:
            if any(entry.path == path and entry.is_dir for entry in self._entries()):
                raise PathRefused(f"{path!r} is a folder")
            self._files[path] = data

    async def read_file(self, path: str, max_bytes: int) -> bytes:
        await self._ready()
        name = _relative(path)
        if name not in self._files:
            raise NotFound(f"the file {path!r} does not exist")
        return self._files[name][:max_bytes]

    async def list_files(self, prefix: str = "", limit: int = 1000) -> list[FileEntry]:
        await self._ready()
        top = "" if prefix in ("", ".", "./") else _relative(prefix)
        entries = self._entries()
        if top and not any(entry.path == top for entry in entries):
            raise NotFound(f"the file {prefix!r} does not exist")
        below = [entry for entry in entries if not top or entry.path.startswith(top + "/")]
        return [entry for entry in below if not self._is_hidden(entry.path, top)][:limit]

    def _is_hidden(self, path: str, top: str) -> bool:
        hidden = (layer for layer in self._spec.layers if f"{path}/".startswith(f"{layer}/"))
        return any(not f"{top}/".startswith(f"{layer}/") for layer in hidden)

    async def freeze(self) -> None:
        self._require_alive()
        if self._awake.is_set():
            self._awake = anyio.Event()

    async def thaw(self) -> None:
        self._require_alive()
        self._awake.set()

    async def kill(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.end("killed")

    async def statistics(self) -> SandboxStatistics:
        self._require_alive()
        return SandboxStatistics(0, sum(job.result is None for job in self._jobs.values()), 0.0)

    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()

    def end(self, reason: str) -> None:
        """Stop all jobs; waiting callers get `SandboxLost`."""
        self.alive = False
        self._awake.set()
        for job in self._jobs.values():
            job.killed_reason = reason
            job.scope.cancel()
            job.ring()

    def _require_alive(self) -> None:
        if not self.alive:
            raise SandboxLost(f"the sandbox {self.sandbox_id} is gone", sandbox_id=self.sandbox_id)

    async def _ready(self) -> None:
        await self._awake.wait()
        await anyio.lowlevel.checkpoint()
        self._require_alive()

    def _find_job(self, effect_id: str, attempt: int) -> Job | None:
        if effect_id in self._acknowledged:
            raise Conflict(f"{effect_id} has been acknowledged")
        job = self._jobs.get(effect_id)
        if job is not None:
            if attempt < job.attempt:
                raise FenceLost(f"attempt {attempt} of {effect_id} is older than {job.attempt}")
            job.attempt = attempt
            job.ring()
        return job

    def _new_job(self, wanted: Command | Evaluation) -> Job:
        if wanted.attach_only:
            raise NotFound(f"the effect {wanted.effect_id} is unknown here")
        job = Job(wanted.effect_id, wanted.attempt, wanted.output_limit_bytes, self._files)
        self._jobs[wanted.effect_id] = job
        return job

    async def _perform(self, job: Job, command: Command) -> None:
        started = anyio.current_time()
        exit_code, timed_out = 137, False
        with job.scope:
            with anyio.move_on_after(command.timeout_s) as limit:
                exit_code = await self._shell(job, command.script)
            timed_out = limit.cancelled_caught
        reason = None if timed_out else job.killed_reason
        output, truncated = job.limited_output()
        job.result = CommandResult(exit_code, output, timed_out, truncated, anyio.current_time() - started, reason)
        job.ring()

    async def _shell(self, job: Job, script: str) -> int:
        exit_code = 0
        for statement in script.replace("\n", ";").split(";"):
            for words in _conjunction(statement):
                await self._awake.wait()
                if words[0] == "exit":
                    return int(words[1]) if len(words) > 1 else exit_code
                exit_code = await self._word(job, words)
                if exit_code:
                    break
        return exit_code

    async def _word(self, job: Job, words: list[str]) -> int:
        target, append = None, False
        if len(words) > 2 and words[-2] in (">", ">>"):
            target, append, words = _relative(words[-1]), words[-2] == ">>", words[:-2]
        responder = self._words.get(words[0])
        if responder is None:
            job.write(f"{words[0]}: command not found\n")
            return 127
        if target is None:
            return await responder(job, words[1:])
        captured = Job(job.effect_id, job.attempt, job.limit, job.files)
        exit_code = await responder(captured, words[1:])
        job.files[target] = (job.files.get(target, b"") if append else b"") + captured.output.encode()
        return exit_code

    def _evaluated(self, job: Job, evaluation: Evaluation) -> EvaluationResult:
        stdout = io.StringIO()
        try:
            with contextlib.redirect_stdout(stdout):
                value = _value_of(evaluation, self._variables[evaluation.language])
        except KeyError:
            raise MalformedInput(f"the language {evaluation.language!r} is not supported") from None
        except Exception as error:
            job.write(stdout.getvalue())
            text = "".join(traceback.format_exception_only(error)).strip()
            return EvaluationResult(False, None, text, job.output)
        job.write(stdout.getvalue())
        text = "" if value is None else repr(value)
        try:
            value = json.loads(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError):
            value = text
        return EvaluationResult(True, value, None, job.output, text)

    async def _follow(self, job: Job, attempt: int, on_output: OnOutput | None) -> CommandResult | EvaluationResult:
        async for text in self._texts(job, attempt):
            if on_output is not None and inspect.isawaitable(waiting := on_output(text)):
                await waiting
        assert job.result is not None
        return job.result

    async def _texts(self, job: Job, attempt: int) -> AsyncIterator[str]:
        sent = 0
        while True:
            if not self.alive:
                self._require_alive()
            if job.attempt != attempt:
                raise FenceLost(f"attempt {job.attempt} of {job.effect_id} has taken over")
            ready = job.limited_output()[0] if job.result is not None else job.output[: job.limit * 3 // 4]
            if len(ready) > sent:
                sent, text = len(ready), ready[sent:]
                yield text
            elif job.result is not None:
                return
            else:
                await job.news.wait()

    def _entries(self) -> list[FileEntry]:
        folders = {folder for path in self._files for folder in _parents(posixpath.dirname(path))}
        entries = [FileEntry(folder, 0, True, 0.0) for folder in folders]
        entries += [FileEntry(path, len(data), False, 0.0) for path, data in self._files.items()]
        return sorted(entries, key=lambda entry: entry.path.split("/"))


def _parents(folder: str) -> list[str]:
    parts = folder.split("/") if folder else []
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]


MemoryProvider.sandbox_class = MemorySandbox


def _relative(path: str) -> str:
    if not path or path.startswith("/") or "\0" in path or ".." in path.split("/"):
        raise PathRefused(f"the path {path!r} is not relative to the workspace, or contains '..'")
    return posixpath.normpath(path)


def _conjunction(statement: str) -> list[list[str]]:
    """The commands between `&&`, each as its words."""
    commands: list[list[str]] = [[]]
    for word in shlex.split(statement):
        if word == "&&":
            commands.append([])
        else:
            commands[-1].append(word)
    return [words for words in commands if words]


def _value_of(evaluation: Evaluation, variables: dict[str, Any]) -> Any:
    code = evaluation.code
    if evaluation.language == "typescript":
        try:
            return json.loads(code.strip().removesuffix(";"))
        except ValueError:
            code = code.removeprefix("const ").removeprefix("let ")
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<code>", "exec"), variables)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "<code>", "eval"), variables)


async def _echo(job: Job, words: Sequence[str]) -> int:
    job.write(" ".join(words) + "\n")
    return 0


async def _printf(job: Job, words: Sequence[str]) -> int:
    job.write("".join(words).replace("\\n", "\n"))
    return 0


async def _cat(job: Job, words: Sequence[str]) -> int:
    for word in words:
        if word not in job.files:
            job.write(f"cat: {word}: No such file or directory\n")
            return 1
        job.write(job.files[word].decode("utf-8", "replace"))
    return 0


async def _rm(job: Job, words: Sequence[str]) -> int:
    for word in words:
        job.files.pop(word, None)
    return 0


async def _sleep(_job: Job, words: Sequence[str]) -> int:
    await anyio.sleep(float(words[0]))
    return 0


async def _seq(job: Job, words: Sequence[str]) -> int:
    job.write("".join(f"{number}\n" for number in range(1, int(words[0]) + 1)))
    return 0


async def _true(_job: Job, _words: Sequence[str]) -> int:
    return 0


async def _false(_job: Job, _words: Sequence[str]) -> int:
    return 1


_BUILTINS: dict[str, Responder] = {
    "cat": _cat,
    "echo": _echo,
    "false": _false,
    "printf": _printf,
    "rm": _rm,
    "seq": _seq,
    "sleep": _sleep,
    "true": _true,
}

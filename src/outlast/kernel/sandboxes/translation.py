"""Sandboxes of `outlast_sandbox` whose errors are the server's.

A provider that `translated_provider` wraps, and all that it makes, raises what `outlast.base.errors` has. Code that
calls the package directly does so within `translated()`.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from socket import socket
from types import MappingProxyType
from typing import Final

from outlast.base import errors as ours
from outlast_sandbox import errors as theirs
from outlast_sandbox.interactive import (
    FileChangeSeen,
    FileFacts,
    Files,
    ProcessEnd,
    Processes,
    ProcessInfo,
    ProcessOutput,
    ProcessSpec,
    TerminalSize,
)
from outlast_sandbox.interface import (
    BuiltSnapshot,
    Capabilities,
    Command,
    CommandResult,
    Evaluation,
    EvaluationResult,
    FileEntry,
    OnOutput,
    ProbeReport,
    Progress,
    Sandbox,
    SandboxProvider,
    SandboxSpec,
    SandboxStatistics,
    SnapshotRecipe,
)

ERRORS: Final[Mapping[type[theirs.SandboxError], type[ours.OutlastError]]] = MappingProxyType(
    {
        theirs.SandboxError: ours.InternalError,
        theirs.SandboxLost: ours.SandboxLost,
        theirs.SandboxUnavailable: ours.SandboxUnavailable,
        theirs.SandboxIsolationMissing: ours.SandboxIsolationMissing,
        theirs.NotFound: ours.NotFound,
        theirs.PathRefused: ours.PathRefused,
        theirs.InputTooLarge: ours.InputTooLarge,
        theirs.ArgumentsInvalid: ours.ArgumentsInvalid,
        theirs.MalformedInput: ours.MalformedInput,
        theirs.Conflict: ours.Conflict,
        theirs.DiskFull: ours.DiskFull,
        theirs.FenceLost: ours.FenceLost,
        theirs.StoredFileDamaged: ours.StoredFileDamaged,
        theirs.InvalidSetting: ours.InvalidSetting,
        theirs.StartRefused: ours.StartRefused,
    }
)


@contextmanager
def translated() -> Iterator[None]:
    """Raises an error of the package as the server's of the same code."""
    try:
        yield
    except theirs.SandboxError as error:
        raise as_ours(error) from error


def as_ours(error: theirs.SandboxError) -> ours.OutlastError:
    """The server's error of the same code. A class that the table does not have, of a provider in another package,
    counts as the nearest that it has."""
    kind = next(ERRORS[base] for base in type(error).__mro__ if base in ERRORS)
    hint = error.hint or kind.default_hint
    return kind(error.message, hint=hint, retry_after_s=error.retry_after_s, **error.fields)


def translated_provider(provider: SandboxProvider) -> "TranslatedProvider":
    """`provider`, wrapped; as it is where that was done already."""
    return provider if isinstance(provider, TranslatedProvider) else TranslatedProvider(provider)


def untranslated(sandbox: Sandbox) -> Sandbox:
    """The sandbox as the package made it, for what the package does with it."""
    return sandbox.inner if isinstance(sandbox, TranslatedSandbox) else sandbox


class TranslatedProvider:
    """See `SandboxProvider`; `inner` raises the package's errors."""

    def __init__(self, inner: SandboxProvider) -> None:
        self.inner = inner

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def capabilities(self) -> Capabilities:
        return self.inner.capabilities

    async def probe(self) -> ProbeReport:
        with translated():
            return await self.inner.probe()

    async def create(self, spec: SandboxSpec) -> "TranslatedSandbox":
        with translated():
            return TranslatedSandbox(await self.inner.create(spec))

    async def connect(self, sandbox_id: str, ref: str) -> "TranslatedSandbox":
        with translated():
            return TranslatedSandbox(await self.inner.connect(sandbox_id, ref))

    async def base_identity(self) -> str:
        with translated():
            return await self.inner.base_identity()

    async def build_snapshot(self, recipe: SnapshotRecipe, progress: Progress) -> BuiltSnapshot:
        with translated():
            return await self.inner.build_snapshot(recipe, progress)

    async def has_snapshot(self, ref: str) -> bool:
        with translated():
            return await self.inner.has_snapshot(ref)

    async def remove_snapshot(self, ref: str) -> None:
        with translated():
            await self.inner.remove_snapshot(ref)

    async def list_refs(self) -> list[tuple[str, str]]:
        with translated():
            return await self.inner.list_refs()


class TranslatedSandbox:
    """See `Sandbox`; `inner` raises the package's errors."""

    def __init__(self, inner: Sandbox) -> None:
        self.inner = inner

    @property
    def sandbox_id(self) -> str:
        return self.inner.sandbox_id

    @property
    def ref(self) -> str:
        return self.inner.ref

    async def run(self, command: Command, on_output: OnOutput | None = None) -> CommandResult:
        with translated():
            return await self.inner.run(command, on_output)

    async def evaluate(self, evaluation: Evaluation, on_output: OnOutput | None = None) -> EvaluationResult:
        with translated():
            return await self.inner.evaluate(evaluation, on_output)

    async def acknowledge(self, effect_id: str) -> None:
        with translated():
            await self.inner.acknowledge(effect_id)

    async def kill_command(self, effect_id: str, reason: str = "cancelled") -> None:
        with translated():
            await self.inner.kill_command(effect_id, reason)

    async def end_sessions(self) -> int:
        with translated():
            return await self.inner.end_sessions()

    async def write_files(self, files: Sequence[tuple[str, bytes]]) -> None:
        with translated():
            await self.inner.write_files(files)

    async def read_file(self, path: str, max_bytes: int) -> bytes:
        with translated():
            return await self.inner.read_file(path, max_bytes)

    async def list_files(self, prefix: str = "", limit: int = 1000) -> list[FileEntry]:
        with translated():
            return await self.inner.list_files(prefix, limit)

    async def freeze(self) -> None:
        with translated():
            await self.inner.freeze()

    async def thaw(self) -> None:
        with translated():
            await self.inner.thaw()

    async def kill(self) -> None:
        with translated():
            await self.inner.kill()

    async def statistics(self) -> SandboxStatistics | None:
        with translated():
            return await self.inner.statistics()

    async def ping(self) -> None:
        with translated():
            await self.inner.ping()

    async def log(self) -> str:
        with translated():
            return await self.inner.log()

    def disk_folders(self) -> Sequence[Path]:
        return self.inner.disk_folders()

    def process_ids(self) -> list[int]:
        return self.inner.process_ids()

    def ends_with(self, error: Exception) -> None:
        self.inner.ends_with(error)

    async def dial(self, port: int) -> socket:
        with translated():
            return await self.inner.dial(port)

    async def egress_listener(self) -> socket:
        with translated():
            return await self.inner.egress_listener()

    @property
    def processes(self) -> "TranslatedProcesses":
        with translated():
            return TranslatedProcesses(self.inner.processes)

    @property
    def files(self) -> "TranslatedFiles":
        with translated():
            return TranslatedFiles(self.inner.files)

    async def aclose(self) -> None:
        with translated():
            await self.inner.aclose()


class TranslatedProcesses:
    """See `Processes`."""

    def __init__(self, inner: Processes) -> None:
        self._inner = inner

    async def start(self, spec: ProcessSpec) -> ProcessInfo:
        with translated():
            return await self._inner.start(spec)

    async def list(self) -> list[ProcessInfo]:
        with translated():
            return await self._inner.list()

    @asynccontextmanager
    async def follow(self, pid: int) -> AsyncIterator[AsyncIterator[ProcessOutput | ProcessEnd]]:
        with translated():
            async with self._inner.follow(pid) as output:
                yield output

    async def write(self, pid: int, data: bytes) -> None:
        with translated():
            await self._inner.write(pid, data)

    async def close_stdin(self, pid: int) -> None:
        with translated():
            await self._inner.close_stdin(pid)

    async def resize(self, pid: int, size: TerminalSize) -> None:
        with translated():
            await self._inner.resize(pid, size)

    async def signal(self, pid: int, number: int, *, group: bool = False) -> None:
        with translated():
            await self._inner.signal(pid, number, group=group)


class TranslatedFiles:
    """See `Files`."""

    def __init__(self, inner: Files) -> None:
        self._inner = inner

    async def stat(self, path: str) -> FileFacts:
        with translated():
            return await self._inner.stat(path)

    async def list(self, path: str, depth: int = 1) -> list[FileFacts]:
        with translated():
            return await self._inner.list(path, depth)

    async def read(self, path: str, offset: int = 0) -> AsyncIterator[bytes]:
        with translated():
            async for chunk in self._inner.read(path, offset):
                yield chunk

    async def write(
        self,
        path: str,
        chunks: AsyncIterator[bytes],
        *,
        mode: int | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> FileFacts:
        with translated():
            return await self._inner.write(path, chunks, mode=mode, metadata=metadata)

    async def make_dir(self, path: str) -> bool:
        with translated():
            return await self._inner.make_dir(path)

    async def move(self, source: str, target: str) -> FileFacts:
        with translated():
            return await self._inner.move(source, target)

    async def remove(self, path: str) -> None:
        with translated():
            await self._inner.remove(path)

    @asynccontextmanager
    async def watch(
        self, path: str, *, recursive: bool = False
    ) -> AsyncIterator[AsyncIterator[FileChangeSeen]]:
        with translated():
            async with self._inner.watch(path, recursive=recursive) as changes:
                yield changes

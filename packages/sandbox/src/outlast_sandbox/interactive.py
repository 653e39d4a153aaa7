"""Interactive processes, and files anywhere in a sandbox, as terminals and SDKs need them.

Not fenced: there are no effect ids, and nothing is repeated. Paths are absolute as seen inside, or relative to the
workspace. Every call raises `SandboxLost` if the sandbox is gone.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

FileKind = Literal["file", "directory", "symlink", "other"]
WatchKind = Literal["create", "write", "remove", "rename", "chmod", "overflow"]


@dataclass(frozen=True, slots=True)
class TerminalSize:
    columns: int = 80
    rows: int = 24


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """A process to start, in a session of its own: `argv[0]` is looked up in PATH; `cwd` is absolute, or relative to
    the workspace; `env` is added to the sandbox's environment; `terminal`: it gets a pseudo-terminal of that size (and
    `TERM`), and its output is one stream; `stdin`: True if its standard input is writable (otherwise it is empty; a
    terminal is always writable); `tag` is a label that the caller chooses."""

    argv: tuple[str, ...]
    cwd: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    terminal: TerminalSize | None = None
    stdin: bool = True
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """A process that was started interactively; `exit_code` None while it runs (a signal counts as 128 + number)."""

    pid: int
    spec: ProcessSpec
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class ProcessOutput:
    """Bytes that the process wrote. With a terminal all bytes are `terminal`. `skipped`: the number of earlier bytes,
    of any stream, that were dropped because no follower read them in time."""

    stream: Literal["stdout", "stderr", "terminal"]
    data: bytes
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """The end of a process: `exit_code` as in a shell, `signal` the number that ended it or None."""

    exit_code: int
    signal: int | None = None


class Processes(Protocol):
    """The interactive processes of one sandbox. They live until they end or are killed, followed or not."""

    async def start(self, spec: ProcessSpec) -> ProcessInfo:
        """Raises `NotFound` for a missing program or folder, `SandboxUnavailable` if no process can be started."""

    async def list(self) -> list[ProcessInfo]:
        """The processes that run now."""

    def follow(self, pid: int) -> AbstractAsyncContextManager[AsyncIterator[ProcessOutput | ProcessEnd]]:
        """The process's output from now on (unread output first, at most the last 256 KiB), then exactly one
        `ProcessEnd`. Several clients may follow. Output counts as read once it is yielded.

        While a follower lags, or before the first follower connects, the process waits; a follower that requests
        nothing for 10 s no longer delays it and finds bytes `skipped`. Output of background processes that it leaves
        running is not read after its own end. An end that no follower has received is kept, for the last 32 processes.
        Raises `NotFound`, also for a process whose end was delivered."""

    async def write(self, pid: int, data: bytes) -> None:
        """Write to its stdin or terminal; waits while the process does not read. Raises `NotFound`, `Conflict` (stdin
        is closed). A cancelled call may have written a part."""

    async def close_stdin(self, pid: int) -> None:
        """Close its stdin after everything written before. Idempotent. Raises `NotFound`, `Conflict` for a terminal:
        write the byte 4 to it instead."""

    async def resize(self, pid: int, size: TerminalSize) -> None:
        """Raises `NotFound`, `Conflict` if it has no terminal."""

    async def signal(self, pid: int, number: int, *, group: bool = False) -> None:
        """Send a signal to it (`group`: also to its descendants). Raises `NotFound`, also if it has ended."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """One file; a symlink is not followed. `path` is absolute; bytes in names that are not UTF-8 are replaced by
    U+FFFD. `mode` has the permission bits, `mtime` is in seconds since 1970, `symlink_target` is the final target of a
    link, absolute. `metadata` are extended attributes in the `user.` space, without that prefix."""

    path: str
    kind: FileKind
    size: int
    mode: int
    mtime: float
    owner: str
    group: str
    symlink_target: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileChangeSeen:
    """A change below a watched folder; `path` is relative to it, empty for the folder itself.

    A rename is a `rename` of the old path and a `create` of the new one. `overflow`: there were too many changes at
    once and some were missed; list the folder again. An atomic write by the server is reported as a `write` of that
    path."""

    kind: WatchKind
    path: str


class Files(Protocol):
    """Files anywhere in one sandbox, with the permissions of its only user. Errors: `NotFound`, `PathRefused` (no
    permission, or the wrong kind of file for the call), `Conflict` (it exists already), `DiskFull`."""

    async def stat(self, path: str) -> FileFacts: ...
    async def list(self, path: str, depth: int = 1) -> list[FileFacts]:
        """The entries below a folder, `depth` levels deep, each folder before its contents, by name. Symlinks are not
        followed, unreadable folders are not entered. Raises `ArgumentsInvalid` for more than 100,000."""

    def read(self, path: str, offset: int = 0) -> AsyncIterator[bytes]:
        """Yield the file in chunks of at most 1 MiB, from the byte `offset` on."""

    async def write(
        self,
        path: str,
        chunks: AsyncIterator[bytes],
        *,
        mode: int | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> FileFacts:
        """Write a file atomically; parent folders are created, symlinks followed. `mode`: None keeps that of an
        existing file, or uses 0o644. `metadata`: None keeps the existing metadata; otherwise it is replaced, or
        `PathRefused` if the file system does not support it. A cancelled call leaves the file unchanged."""

    async def make_dir(self, path: str) -> bool:
        """Create a folder with its parents. Returns False if it exists. Raises `PathRefused` if the path is not a
        folder."""

    async def move(self, source: str, target: str) -> FileFacts:
        """Parent folders of the target are created; an existing file is replaced, `Conflict` for a folder that is not
        empty. A cancelled call may still be carried out."""

    async def remove(self, path: str) -> None:
        """Remove a file, or a folder with all its contents. Raises `NotFound`. A cancelled call may still be carried
        out."""

    def watch(
        self, path: str, *, recursive: bool = False
    ) -> AbstractAsyncContextManager[AsyncIterator[FileChangeSeen]]:
        """Yield changes below a folder from now on; the watch ends when the folder itself is removed or renamed, which
        is its last change. Raises `NotFound`, `PathRefused` if it is not a folder, `ArgumentsInvalid` for more than
        20,000 folders below it."""

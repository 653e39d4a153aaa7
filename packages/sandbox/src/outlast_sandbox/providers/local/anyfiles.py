"""Files anywhere in a sandbox, through the agent inside; see `Files`."""

from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, get_args

from outlast_sandbox.interactive import FileChangeSeen, FileFacts, FileKind

from .connection import Exchange, Pool

PIECE_BYTES: Final = 1024 * 1024


class LocalFiles:
    """See `Files`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def stat(self, path: str) -> FileFacts:
        head, _ = await self._pool.ask("file_stat", path=path)
        return _facts(head["facts"])

    async def list(self, path: str, depth: int = 1) -> list[FileFacts]:
        async with self._pool.exchange("file_list", path=path, depth=depth) as exchange:
            return [_facts(entry) async for entry in exchange.pages()]

    async def read(self, path: str, offset: int = 0) -> AsyncIterator[bytes]:
        async with self._pool.exchange("file_read", path=path, offset=offset) as exchange:
            _, data = await exchange.next()
            while data:
                yield data
                if exchange.done:
                    return
                await exchange.proceed()
                _, data = await exchange.next()

    async def write(
        self,
        path: str,
        chunks: AsyncIterator[bytes],
        *,
        mode: int | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> FileFacts:
        attributes = None if metadata is None else dict(metadata)
        async with self._pool.exchange("file_write", path=path, mode=mode, metadata=attributes) as exchange:
            await exchange.next()
            async for piece in _pieces(chunks):
                await exchange.proceed(piece, last=False)
                await exchange.next()
            await exchange.proceed(last=True)
            head, _ = await exchange.next()
        return _facts(head["facts"])

    async def make_dir(self, path: str) -> bool:
        head, _ = await self._pool.ask("file_make_dir", path=path)
        return bool(head["made"])

    async def move(self, source: str, target: str) -> FileFacts:
        head, _ = await self._pool.ask("file_move", source=source, target=target)
        return _facts(head["facts"])

    async def remove(self, path: str) -> None:
        await self._pool.ask("file_remove", path=path)

    @asynccontextmanager
    async def watch(self, path: str, *, recursive: bool = False) -> AsyncIterator[AsyncIterator[FileChangeSeen]]:
        async with self._pool.exchange("file_watch", path=path, recursive=recursive) as exchange:
            await exchange.next()
            yield _Watch(exchange)


class _Watch:
    """The changes as they come."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._waiting: deque[FileChangeSeen] = deque()

    def __aiter__(self) -> "_Watch":
        return self

    async def __anext__(self) -> FileChangeSeen:
        while not self._waiting:
            if self._exchange.done:
                raise StopAsyncIteration
            await self._exchange.proceed()
            head, _ = await self._exchange.next()
            self._waiting += [FileChangeSeen(kind, str(below)) for kind, below in head["changes"]]
        return self._waiting.popleft()


async def _pieces(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same bytes in pieces that are quick to transfer."""
    waiting = bytearray()
    async for chunk in chunks:
        waiting += chunk
        while len(waiting) >= PIECE_BYTES:
            yield bytes(waiting[:PIECE_BYTES])
            del waiting[:PIECE_BYTES]
    if waiting:
        yield bytes(waiting)


def _facts(entry: Mapping[str, Any]) -> FileFacts:
    target = entry["symlink_target"]
    return FileFacts(
        str(entry["path"]),
        entry["kind"] if entry["kind"] in get_args(FileKind) else "other",
        int(entry["size"]),
        int(entry["mode"]),
        float(entry["mtime"]),
        str(entry["owner"]),
        str(entry["group"]),
        None if target is None else str(target),
        {str(name): str(value) for name, value in entry["metadata"].items()},
    )

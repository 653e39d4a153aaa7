"""The log of used secrets: one line for each request that carried one, without any value."""

import logging
from collections.abc import Collection, Sequence
from typing import Final

import anyio

from outlast.base.clock import Clock
from outlast.base.errors import OutlastError
from outlast.base.records import dataclass
from outlast.db.database import Database
from outlast.kernel.sandboxes.egress.store import Use, add_uses
from outlast_sandbox.egress.http1 import RequestHead
from outlast_sandbox.egress.rules import Target

EVERY_S: Final = 0.5  # one write for all requests of that time
MAX_WAITING: Final = 1000
MAX_PATH_CHARS: Final = 500
log = logging.getLogger("outlast.egress")


class UseLog:
    """Writes lines in batches, at least every half second; `run` does it. In memory: the lines of that half second,
    which a SIGKILL loses. A request waits while a thousand lines are unwritten."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._waiting: list[Use] = []
        self._news = anyio.Event()
        self._room = anyio.Event()

    def of(self, sandbox_id: str, project_id: str) -> "SandboxUses":
        """The log for one sandbox's proxy."""
        return SandboxUses(self, self._clock, sandbox_id, project_id)

    async def add(self, use: Use) -> None:
        while len(self._waiting) >= MAX_WAITING:
            await self._room.wait()
        self._waiting.append(use)
        self._news.set()

    async def run(self) -> None:
        """Write until cancelled, and then once more."""
        try:
            while True:
                await self._news.wait()
                await anyio.sleep(EVERY_S)
                await self._try()
        finally:
            # The stop of the server must neither lose lines nor hang on a database.
            with anyio.move_on_after(5, shield=True):
                await self._try()

    async def _try(self) -> None:
        try:
            await self.flush()
        except OutlastError as error:
            log.warning("uses of secrets not logged yet", extra={"code": error.code, "reason": error.message})

    async def flush(self) -> None:
        """Write the waiting lines; they are kept for the next time if the write fails."""
        # Swapped before the write: lines that arrive meanwhile are the next batch.
        batch, self._waiting, self._news = self._waiting, [], anyio.Event()
        if not batch:
            return
        try:
            await self._db.write(add_uses, batch)
        except BaseException:
            self._waiting = batch + self._waiting  # in their order
            self._news.set()
            raise
        finally:
            self._room.set()  # also when the write failed: waiting requests check again
            self._room = anyio.Event()


@dataclass(frozen=True, slots=True)
class SandboxUses:
    """See `Uses` in `relay.py`."""

    log: UseLog
    clock: Clock
    sandbox_id: str
    project_id: str

    async def record(
        self,
        names: Sequence[str],
        user_id: str | None,
        target: Target,
        head: RequestHead,
        status: int | None,
        own: Collection[str] = (),
    ) -> None:
        path = head.target.partition(b"?")[0].decode("latin-1")[:MAX_PATH_CHARS]
        method = head.method.decode("latin-1")[:20]
        for name in names:
            await self.log.add(
                Use(
                    self.project_id,
                    self.sandbox_id,
                    user_id,
                    name,
                    target.authority,
                    method,
                    path,
                    status,
                    self.clock.now(),
                    is_own=name in own,
                )
            )

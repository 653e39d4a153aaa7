"""Memories: what agents and people noted for later conversations, and a summary of each run, in one line."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, Protocol

from outlast.db.database import Tx
from outlast.kernel.apps.ports import Port
from outlast.kernel.runs.transcript import Run
from outlast.kernel.settings import Settings

MemoryScope = Literal["run", "project", "person"]


class Memory(NamedTuple):
    """One line. `thread_id` and `run_id` are those of a run's line, else null. `hash` is the SHA-256 of `summary`, by
    which its vector is found."""

    id: str
    scope: MemoryScope
    thread_id: str | None
    run_id: str | None
    summary: str
    hash: str
    created_at: datetime


class Memories(Protocol):
    """Stores memories. First argument: the open transaction. Without an app that implements this, none are stored."""

    def save_summary(
        self, tx: Tx, settings: Settings, run: Run, summary: str, parts: Sequence[Mapping[str, Any]]
    ) -> None:
        """Store the line of a run that ends: `summary`, or if it is empty, one made from the message and the answer's
        `parts`. Stores nothing where memory is off."""
        return

    def summaries_of_runs(self, tx: Tx, run_ids: Collection[str]) -> dict[str, str]:
        """Summaries by run id, for runs that have one."""
        return {}


class NoMemories(Memories):
    """Keeps none."""


MEMORIES: Final[Port[Memories]] = Port("memories", NoMemories())

"""Memories: a summary of each run of a thread, in one line."""

from collections.abc import Collection
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from outlast.db.database import Tx
from outlast.kernel.apps.ports import Port


class Memory(NamedTuple):
    """The line of one run. `hash` is the SHA-256 of `summary`, by which its vector is found."""

    id: str
    thread_id: str
    run_id: str
    summary: str
    hash: str
    created_at: datetime


class Memories(Protocol):
    """Stores memories. First argument: the open transaction. Without an app that implements this, none are stored."""

    def remember(self, tx: Tx, *, project_id: str, thread_id: str, run_id: str, summary: str) -> Memory | None:
        """Store the summary of a run; returns None if it is empty. A run's second summary replaces the first."""
        return None

    def summaries_of_runs(self, tx: Tx, run_ids: Collection[str]) -> dict[str, str]:
        """Summaries by run id, for runs that have one."""
        return {}


class NoMemories(Memories):
    """Keeps none."""


MEMORIES: Final[Port[Memories]] = Port("memories", NoMemories())

"""What an app says about its noun."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import sqlalchemy as sa

from outlast.base.errors import Conflict
from outlast.db.database import Tx


class RunHooks(Protocol):
    """What happens to a subject when runs of its thread do. Each is called inside the transaction that changes the run,
    after the subject's row and before its thread's; without I/O of its own. Repeating is harmless."""

    def on_start(self, tx: Tx, thread_id: str) -> None:
        """Somebody starts a run: called before the thread is held."""

    def on_take_up(self, tx: Tx, thread_id: str, run_id: str) -> None:
        """A queued run has its turn."""

    def on_end(
        self, tx: Tx, thread_id: str, run_id: str, status: str, problems: Sequence[str], *, begun: bool
    ) -> None:
        """A run has ended; `begun`: a worker had it."""

    def on_again(self, tx: Tx, thread_id: str, from_run_id: str, to_run_id: str) -> None:
        """A run that had ended is tried again, or continued, by another one."""


class NoRunHooks:
    """For a subject to which runs do nothing. To be inherited from."""

    def on_start(self, tx: Tx, thread_id: str) -> None:
        return None

    def on_take_up(self, tx: Tx, thread_id: str, run_id: str) -> None:
        return None

    def on_end(
        self, tx: Tx, thread_id: str, run_id: str, status: str, problems: Sequence[str], *, begun: bool
    ) -> None:
        return None

    def on_again(self, tx: Tx, thread_id: str, from_run_id: str, to_run_id: str) -> None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """`noun` names it in sentences, is the type of its thread's anchor, and the profile of the runs whose hooks are
    `runs`. `table` has its rows, with `id`, `title`, `thread_id` and, where files belong to it, `workspace_id`.
    `rename` and `announce` take its id; `announce` also the user who changed it (None: a run, or the server).
    `thread_error` says that its thread cannot be archived or deleted without it, which `thread_does` for it
    ("builds")."""

    noun: str
    table: sa.Table
    thread_does: str
    thread_error: type[Conflict]
    rename: Callable[[Tx, str, str], None]
    announce: Callable[[Tx, str, str | None], Any]
    runs: RunHooks = NoRunHooks()  # noqa: RUF009  # it has no state

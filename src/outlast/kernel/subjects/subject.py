"""What an app says about its noun."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Protocol

import sqlalchemy as sa

from outlast.base.errors import Conflict
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.inbox.shapes import InboxChanged
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointData


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSubject:
    """A subject that is about to be stored: the columns that all with a workspace have. Its thread and workspace exist
    already. `named`: a person chose the title, so the agent's is not taken."""

    id: str
    project_id: str
    thread_id: str
    workspace_id: str
    title: str
    named: bool
    created_by: str

    def columns(self, now: datetime) -> dict[str, Any]:
        """By name, as they are inserted."""
        return {**asdict(self), "created_at": now, "updated_at": now}


@dataclass(frozen=True, slots=True)
class About:
    """An anchor in a document. `text`: the comment's or the selected words, on one line. `gone`: what the anchor names
    is not there any more."""

    document_id: str
    document_title: str
    section_id: str | None = None
    heading: str | None = None
    block_id: str | None = None
    comment_id: str | None = None
    text: str = ""
    gone: bool = False


class RunHooks:
    """What happens to a subject when runs of its thread do; by default nothing. Each is called inside the transaction
    that changes the run, after the subject's row and before its thread's; without I/O of its own. Repeating is
    harmless. What a hook that raises has done is undone in a savepoint and noted among the run's problems; the run goes
    on, and ends."""

    def on_start(self, tx: Tx, thread_id: str) -> None:
        """A run is started: called before the thread is locked."""

    def on_take_up(self, tx: Tx, thread_id: str, run_id: str) -> None:
        """A queued run has its turn."""

    def on_end(self, tx: Tx, thread_id: str, run_id: str, status: str, problems: Sequence[str], *, begun: bool) -> None:
        """A run has ended; `begun`: a worker had it."""

    def on_again(self, tx: Tx, thread_id: str, from_run_id: str, to_run_id: str) -> None:
        """A run that had ended is tried again, or continued, by another one."""


class ThreadHooks:
    """What becomes of threads that are about a subject or a part of it, beside its own, and of those who work there.
    First argument: the open transaction."""

    def check_anchor(
        self, tx: Tx, project_id: str, profile: str, anchor: Mapping[str, Any] | None
    ) -> Mapping[str, Any] | None:
        """What a new thread is about, completed. Raises `NotFound` for something that is not in the project,
        `MalformedInput` for what no thread of this profile can be about. An anchor of others is given back as it is."""
        return anchor

    def before_delete(self, tx: Tx, thread_id: str, by: str) -> Callable[[], None]:
        """A thread is about to be deleted by a user. What is returned is called once it is gone."""
        return lambda: None

    def copy_to_fork(self, tx: Tx, thread_id: str, fork_id: str, messages: Mapping[str, str]) -> Mapping[str, str]:
        """A thread was copied (`messages`: ids in the fork by ids here): copy what its answers proposed. The ids of the
        copies by those of the originals."""
        return {}

    def before_member_leaves(self, tx: Tx, project_id: str, user_id: str) -> Callable[[], None]:
        """A member leaves a project: release what they hold there. The returned function is called once their threads
        are released."""
        return lambda: None

    def about(self, tx: Tx, project_id: str, anchor: Mapping[str, Any]) -> About | None:
        """What the anchor of a thread of this project shows; None: it is another subject's, gone, or another
        project's."""
        return None

    def removed_from_inbox(self, tx: Tx, thread_id: str) -> Sequence[InboxChanged]:
        """The events for inbox items that are deleted with a thread."""
        return ()

    def proposed(self, tx: Tx, thread_id: str, until: datetime) -> Sequence[str]:
        """The outcome of each proposal of a thread's agent until then: one line of Markdown each, oldest first."""
        return ()


class FileHooks:
    """What becomes of a subject whose files are replaced as a whole. Called outside of transactions; `services` are the
    server's. The caller has the right to change the files."""

    async def seed(self, services: Any, subject_id: str) -> Any:
        """The files (a `Seed`) that its workspace begins anew with; None: none."""
        return None

    async def after_reset(self, services: Any, actor: Actor, subject_id: str) -> None:
        """Its workspace was reset."""

    async def after_restore(self, services: Any, actor: Actor, subject_id: str) -> CheckpointData | None:
        """Its files are those of an earlier checkpoint. The newest checkpoint, where this made another one."""
        return None


class Fork(Protocol):
    """Copies a subject with its conversation up to a message (None: all of it). `services` are the server's. Raises
    `NotFound`, `RateLimited` and what says that there are too many."""

    def __call__(
        self, tx: Tx, services: Any, actor: Actor, subject_id: str, title: str, message_id: str | None, /
    ) -> NewSubject: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """`noun` names it in sentences, is the type of its thread's anchor, and the profile of the runs whose hooks are
    `runs`. `table` has its rows, with `id`, `title`, `thread_id`, where files belong to it `workspace_id`, and where
    its agent chooses titles `named` (a person chose this one). `announce` takes its id and the user who changed it
    (None: a run, or the server).
    `thread_error` says that its thread cannot be archived or deleted without it, which `thread_does` for it
    ("builds"). A fork of its thread is made by `fork`, with a copy of it (None: a plain thread is made). `threads` are
    the hooks of threads about it, `files` those of its workspace."""

    noun: str
    table: sa.Table
    thread_does: str
    thread_error: type[Conflict]
    announce: Callable[[Tx, str, str | None], Any]
    fork: Fork | None = None
    runs: RunHooks = RunHooks()  # noqa: RUF009  # it has no state
    threads: ThreadHooks = ThreadHooks()  # noqa: RUF009
    files: FileHooks = FileHooks()  # noqa: RUF009

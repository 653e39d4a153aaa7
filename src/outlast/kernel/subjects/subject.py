"""Protocols that an app implements for its noun."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Protocol

import sqlalchemy as sa

from outlast.base.errors import Conflict
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.inbox.shapes import InboxChanged
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointData


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSubject:
    """A subject that is about to be stored: the columns shared by all subjects with a workspace. Its thread and
    workspace already exist. `named`: a user chose the title, so the agent's title is not used."""

    id: str
    project_id: str
    thread_id: str
    workspace_id: str
    title: str
    named: bool
    created_by: str

    def columns(self, now: datetime) -> dict[str, Any]:
        """The columns by name, for the insert."""
        return {**asdict(self), "created_at": now, "updated_at": now}


@dataclass(frozen=True, slots=True)
class About:
    """An anchor in a document. `text`: the comment's or the selected words, on one line. `gone`: the anchor's target no
    longer exists."""

    document_id: str
    document_title: str
    section_id: str | None = None
    heading: str | None = None
    block_id: str | None = None
    comment_id: str | None = None
    text: str = ""
    gone: bool = False


class RunHooks:
    """Hooks of a subject for runs of its thread; by default they do nothing. Each is called inside the transaction that
    changes the run, after the subject's row and before its thread's; without I/O of its own. Repeating is harmless. If
    a hook raises, its changes are undone in a savepoint and noted among the run's problems; the run continues or ends
    as usual."""

    def on_start(self, tx: Tx, thread_id: str) -> None:
        """A run starts: called before the thread is locked."""

    def on_take_up(self, tx: Tx, thread_id: str, run_id: str) -> None:
        """A queued run becomes the active one."""

    def on_end(self, tx: Tx, thread_id: str, run_id: str, status: str, problems: Sequence[str], *, begun: bool) -> None:
        """A run has ended; `begun`: a worker had claimed it."""

    def on_again(self, tx: Tx, thread_id: str, from_run_id: str, to_run_id: str) -> None:
        """A run that had ended is retried, or continued, by another one."""


class ThreadHooks:
    """Hooks for threads about a subject or a part of it, other than its own thread, and for members who work there.
    First argument: the open transaction."""

    def check_anchor(
        self, tx: Tx, project_id: str, profile: str, anchor: Mapping[str, Any] | None
    ) -> Mapping[str, Any] | None:
        """The anchor of a new thread, completed. Raises `NotFound` for something that is not in the project,
        `MalformedInput` for an anchor that no thread of this profile can have. An anchor of another subject is returned
        unchanged."""
        return anchor

    def before_delete(self, tx: Tx, thread_id: str, by: str) -> Callable[[], None]:
        """A user is about to delete a thread. The returned function is called once it is gone."""
        return lambda: None

    def copy_to_fork(self, tx: Tx, thread_id: str, fork_id: str, messages: Mapping[str, str]) -> Mapping[str, str]:
        """A thread was copied (`messages`: ids in the fork by ids here): copy the proposals of its answers. Returns the
        ids of the copies by those of the originals."""
        return {}

    def before_member_leaves(self, tx: Tx, project_id: str, user_id: str) -> Callable[[], None]:
        """A member leaves a project: release their locks there. The returned function is called once their threads are
        released."""
        return lambda: None

    def about(self, tx: Tx, project_id: str, anchor: Mapping[str, Any]) -> About | None:
        """The subject or part that the anchor of a thread of this project names, or None if the anchor is another
        subject's, gone, or another project's."""
        return None

    def removed_from_inbox(self, tx: Tx, thread_id: str) -> Sequence[InboxChanged]:
        """The events for inbox items that are deleted with a thread."""
        return ()

    def proposed(self, tx: Tx, thread_id: str, until: datetime) -> Sequence[str]:
        """The outcome of each proposal of a thread's agent until then: one line of Markdown each, oldest first."""
        return ()


class FileHooks:
    """Hooks for a subject whose files are replaced as a whole. Called outside of transactions; `services` are the
    server's. The caller has the right to change the files."""

    async def seed(self, services: Any, subject_id: str) -> Any:
        """The files (a `Seed`) with which its workspace begins after a reset, or None for an empty one."""
        return None

    async def after_reset(self, services: Any, actor: Actor, subject_id: str) -> None:
        """Its workspace was reset."""

    async def after_restore(self, services: Any, actor: Actor, subject_id: str) -> CheckpointData | None:
        """Its files were restored from an earlier checkpoint. Returns the newest checkpoint, if this made another
        one."""
        return None


class Fork(Protocol):
    """Copies a subject with its conversation up to a message, or with all of it if None. `services` are the server's.
    Raises `NotFound`, `RateLimited` and the error for too many subjects."""

    def __call__(
        self, tx: Tx, services: Any, actor: Actor, subject_id: str, title: str, message_id: str | None, /
    ) -> NewSubject: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """`noun` names it in sentences, is the type of its thread's anchor, and the profile of the runs whose hooks are
    `runs`. `table` has its rows, with `id`, `title`, `thread_id`, `workspace_id` if it has files, and `named` if its
    agent chooses titles (a user chose this one). `announce` takes its id and the user who changed it, or None for a run
    or the server. `thread_error` says that its thread cannot be archived or deleted without it; `thread_does` is the
    verb in that text ("builds"). A fork of its thread is made by `fork`, with a copy of it; if None, a plain
    thread is made. `threads` are the hooks of threads about it, `files` those of its workspace."""

    noun: str
    table: sa.Table
    thread_does: str
    thread_error: type[Conflict]
    announce: Callable[[Tx, str, str | None], Any]
    fork: Fork | None = None
    runs: RunHooks = RunHooks()  # it has no state
    threads: ThreadHooks = ThreadHooks()
    files: FileHooks = FileHooks()

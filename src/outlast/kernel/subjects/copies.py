"""Copies of subjects: their conversation and their files, each its own from then on."""

from contextlib import suppress
from typing import Protocol

from outlast.base.errors import OutlastError
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.sandboxes.checkpoints import store as checkpoints
from outlast.kernel.sandboxes.checkpoints.store import NewCheckpoint
from outlast.kernel.sandboxes.checkpoints.workspaces import demand_idle
from outlast.kernel.sandboxes.seeds import copy_workspace, fork_workspace
from outlast.kernel.services import Services
from outlast.kernel.subjects.new_subject import NewSubject
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.forks import fork_thread
from outlast.kernel.threads.messages import message_in


class SubjectRow(Protocol):
    """What the row of every subject with files has."""

    @property
    def project_id(self) -> str: ...
    @property
    def thread_id(self) -> str: ...
    @property
    def workspace_id(self) -> str: ...
    @property
    def named(self) -> bool: ...


async def save_files(services: Services, workspace_id: str) -> None:
    """Have the newest checkpoint say what the files are now, if nobody is changing them: a run saves its own changes.
    A failure costs the newest changes only."""
    if services.checkpoints is None:
        return
    with suppress(OutlastError):
        async with services.checkpoints.one_hand(workspace_id):
            await services.db.read(demand_idle, workspace_id)
            await services.checkpoints.take(workspace_id, "person")


def copy_conversation(
    tx: Tx,
    actor: Actor,
    noun: str,
    source: SubjectRow,
    copy_id: str,
    title: str,
    message_id: str | None,
) -> NewSubject:
    """Copy the conversation of a subject (`source`) up to a message, and its files as they were then; without
    a message all of it, and the files as last saved. Holds the thread. Returns the copy, whose row is still to be
    stored. Raises `NotFound` for a message of another thread."""
    anchor = {"type": noun, "id": copy_id}
    thread_id, workspace_id = _copy(tx, actor, source, anchor, title, message_id)
    return NewSubject(
        id=copy_id,
        project_id=source.project_id,
        thread_id=thread_id,
        workspace_id=workspace_id,
        title=title,
        named=source.named,
        created_by=actor.user_id,
    )


def _copy(
    tx: Tx, actor: Actor, source: SubjectRow, anchor: dict[str, str], title: str, message_id: str | None
) -> tuple[str, str]:
    """The ids of the copy's thread and workspace."""
    thread, copy_id = threads.hold(tx, source.thread_id), anchor["id"]
    if message_id is None and not thread.message_count:
        thread_id = threads.add_thread(
            tx, source.project_id, actor.user_id, title=title, profile=anchor["type"], anchor=anchor
        )
        return thread_id, copy_workspace(tx, source.workspace_id, owner_id=copy_id, thread_id=thread_id)
    thread_id = fork_thread(tx, thread, actor, message_id, title, None, anchor)
    last = message_in(tx, thread.id, message_id).id
    workspace_id = fork_workspace(tx, thread, thread_id, last, owner_id=copy_id)
    newest = None if thread.workspace_id is None else checkpoints.newest_of(tx, thread.workspace_id)
    copied = checkpoints.newest_of(tx, workspace_id)
    if message_id is None and newest is not None and (copied is None or copied.tree != newest.tree):
        new = NewCheckpoint(workspace_id, "fork", newest.tree, newest.files, newest.size_bytes)
        checkpoints.add(tx, new, tx.now)
    return thread_id, workspace_id

"""New subjects with their threads and workspaces: empty ones, and copies that are independent of the originals."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from outlast.base.errors import OutlastError
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.checkpoints import store as checkpoints
from outlast.kernel.sandboxes.checkpoints.store import NewCheckpoint
from outlast.kernel.sandboxes.checkpoints.workspaces import demand_idle
from outlast.kernel.sandboxes.seeds import Seed, copy_workspace, fork_workspace, new_workspace
from outlast.kernel.services import Services
from outlast.kernel.subjects.rules import copy_title
from outlast.kernel.subjects.store import SubjectData, SubjectStore
from outlast.kernel.subjects.subject import NewSubject
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.forks import fork_thread
from outlast.kernel.threads.message_store import message_in
from outlast.kernel.threads.rows import ThreadRow

D = TypeVar("D", bound=SubjectData)


class SubjectRow(SubjectData, Protocol):
    """The columns that the row of every subject with files has."""

    @property
    def workspace_id(self) -> str: ...
    @property
    def named(self) -> bool: ...


def new_subject(
    tx: Tx, actor: Actor, noun: str, project_id: str, title: str | None, untitled: str, seed: Seed | None = None
) -> NewSubject:
    """A subject with its own thread and workspace, which begins with the files of `seed`, or empty if None. `untitled`:
    its title if the user has chosen none."""
    subject_id = new_id(noun)
    anchor = {"type": noun, "id": subject_id}
    thread_id = threads.add_thread(tx, project_id, actor.user_id, title=title, profile=noun, anchor=anchor)
    return NewSubject(
        id=subject_id,
        project_id=project_id,
        thread_id=thread_id,
        workspace_id=new_workspace(tx, seed, (noun, subject_id), project_id=project_id, thread_id=thread_id),
        title=title or untitled,
        named=title is not None,
        created_by=actor.user_id,
    )


async def save_files(services: Services, workspace_id: str) -> None:
    """Save the files of a workspace as its newest checkpoint before they are copied. Does nothing while a run works
    there: the run saves its own changes. An error is ignored; the copy then lacks the changes since the last
    checkpoint."""
    if services.sandboxes.checkpoints is None:
        return
    with suppress(OutlastError):
        async with services.sandboxes.checkpoints.one_hand(workspace_id):
            await services.db.read(demand_idle, workspace_id)
            await services.sandboxes.checkpoints.take(workspace_id, "person")


async def duplicate(
    services: Services,
    actor: Actor,
    store: SubjectStore[Any, Any, Any],
    subject_id: str,
    copy: Callable[[Tx, str], NewSubject],
    data: Callable[[Tx, str], D],
    key: str | None,
    asked: tuple[Any, ...] = (),
) -> D:
    """Save a subject's files, then let `copy` make a copy with this title (editors). Returns the `data` of the copy; a
    repeated `key` gets that of the first. `asked`: the other fields of the request."""
    row = await services.db.read(store.require, actor, subject_id, Right.EDIT)
    await save_files(services, row.workspace_id)

    def run(tx: Tx) -> D:
        source = store.require(tx, actor, subject_id, Right.EDIT)
        title = copy_title(source.title, services.settings.limits.title_chars)
        wanted = request_hash("duplicate", subject_id, *asked)
        made = remember(tx, actor.user_id, key, wanted, lambda: {"id": copy(tx, title).id})
        return data(tx, made["id"])

    made = await services.db.write(run)
    services.sandboxes.warm(made.thread_id)
    return made


def copy_conversation(
    tx: Tx, actor: Actor, noun: str, source: SubjectRow, *, title: str, message_id: str | None
) -> NewSubject:
    """Copy the conversation of `source` up to a message, with its files as they were then; without a message all of it,
    with the files as last saved. Holds the thread. The caller stores the row of the copy that is returned. Raises
    `NotFound` for a message of another thread."""
    copy_id = new_id(noun)
    anchor = {"type": noun, "id": copy_id}
    thread = threads.hold(tx, source.thread_id)
    if message_id is None and not thread.message_count:
        # A fork needs a message to end at.
        thread_id = threads.add_thread(tx, source.project_id, actor.user_id, title=title, profile=noun, anchor=anchor)
        workspace_id = copy_workspace(tx, source.workspace_id, owner_id=copy_id, thread_id=thread_id)
    else:
        thread_id = fork_thread(tx, thread, actor, message_id, title, anchor)
        workspace_id = _fork_files(tx, thread, thread_id, message_id, owner_id=copy_id)
    return NewSubject(
        id=copy_id,
        project_id=source.project_id,
        thread_id=thread_id,
        workspace_id=workspace_id,
        title=title,
        named=source.named,
        created_by=actor.user_id,
    )


def _fork_files(tx: Tx, thread: ThreadRow, fork_id: str, message_id: str | None, *, owner_id: str) -> str:
    """Create the workspace of the fork, with the files as they were at the message, or as last saved without one. Its
    id."""
    last_message = message_in(tx, thread.id, message_id).id
    workspace_id = fork_workspace(tx, thread, fork_id, last_message, owner_id=owner_id)
    if message_id is not None or thread.workspace_id is None:
        return workspace_id
    # The files may have changed since the last message: by a user, or by a run that has not ended.
    newest, copied = checkpoints.newest_of(tx, thread.workspace_id), checkpoints.newest_of(tx, workspace_id)
    if newest is not None and (copied is None or copied.tree != newest.tree):
        new = NewCheckpoint(workspace_id, "fork", newest.tree, newest.files, newest.size_bytes)
        checkpoints.add(tx, new, tx.now)
    return workspace_id

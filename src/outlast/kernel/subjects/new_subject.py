"""Subjects that are about to be stored."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.threads.store import add_thread


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSubject:
    """The columns that every subject with a workspace has. Its thread and workspace exist already. `named`: a person
    chose the title, so the agent's is not taken."""

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


def new_subject(
    tx: Tx,
    actor: Actor,
    noun: str,
    project_id: str,
    title: str | None,
    untitled: str,
    make_workspace: Callable[[str, str], str],
) -> NewSubject:
    """A subject with a thread of its own, and the workspace that `make_workspace(its id, its thread's id)` gives it.
    `untitled`: its title where nobody has chosen one."""
    subject_id = new_id(noun)
    anchor = {"type": noun, "id": subject_id}
    thread_id = add_thread(tx, project_id, actor.user_id, title=title, profile=noun, anchor=anchor)
    return NewSubject(
        id=subject_id,
        project_id=project_id,
        thread_id=thread_id,
        workspace_id=make_workspace(subject_id, thread_id),
        title=title or untitled,
        named=title is not None,
        created_by=actor.user_id,
    )

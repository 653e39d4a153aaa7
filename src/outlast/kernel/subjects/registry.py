"""The subjects of all apps."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.apps import registry
from outlast.kernel.inbox.shapes import InboxChanged
from outlast.kernel.subjects.subject import About, Subject


def subjects() -> Iterable[Subject]:
    """All of them, in the order of the apps."""
    return registry.load().subjects.values()


def subject(noun: str | None) -> Subject | None:
    """The subject of that noun (the type of an anchor, a run's profile), or None if there is none."""
    return None if noun is None else registry.load().subjects.get(noun)


def owners_of_files() -> list[str]:
    """The nouns of subjects to which a workspace can belong."""
    return [one.noun for one in _with_files()]


@dataclass(frozen=True, slots=True)
class Found:
    """One subject of its kind."""

    kind: Subject
    id: str
    title: str


class _Titled(NamedTuple):
    id: str
    title: str


def of_thread(tx: Tx, thread_id: str) -> Found | None:
    """The subject whose own thread this is, or None."""
    return _find(tx, subjects(), {"thread_id": thread_id})


def of_workspace(tx: Tx, workspace_id: str) -> Found | None:
    """The subject whose files are in a workspace, or None."""
    return _find(tx, _with_files(), {"workspace_id": workspace_id})


def _find(tx: Tx, kinds: Iterable[Subject], where: dict[str, Any]) -> Found | None:
    for one in kinds:
        row = tx.find(_Titled, one.table, where)
        if row is not None:
            return Found(one, row.id, row.title)
    return None


def rename(tx: Tx, found: Found, title: str) -> None:
    """Set the title that a user chose. Not announced yet."""
    columns = {"title": title, "named": True, "updated_at": tx.now}
    table = found.kind.table
    tx.update(table, {"id": found.id}, **{name: value for name, value in columns.items() if name in table.c})


def about(tx: Tx, project_id: str, anchor: Mapping[str, Any] | None) -> About | None:
    """The subject or part that the anchor of a thread of this project names, or None if it names nothing of the
    project."""
    if anchor is None:
        return None
    shown = (one.threads.about(tx, project_id, anchor) for one in subjects())
    return next((found for found in shown if found is not None), None)


def removed_from_inbox(tx: Tx, thread_id: str) -> list[InboxChanged]:
    """The events for inbox items that are deleted with a thread."""
    return [news for one in subjects() for news in one.threads.removed_from_inbox(tx, thread_id)]


def proposed(tx: Tx, thread_id: str, until: datetime) -> list[str]:
    """The outcome of each proposal that a thread's agent made until then, one line of Markdown each."""
    return [line for one in subjects() for line in one.threads.proposed(tx, thread_id, until)]


def check_anchor(tx: Tx, project_id: str, profile: str, anchor: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The anchor of a new thread, completed by its app. Raises as `ThreadHooks.check_anchor`."""
    for one in subjects():
        anchor = one.threads.check_anchor(tx, project_id, profile, anchor)
    return anchor


def before_delete(tx: Tx, thread_id: str, by: str) -> list[Callable[[], None]]:
    """A thread is about to be deleted; returns functions to call once it is gone."""
    return [one.threads.before_delete(tx, thread_id, by) for one in subjects()]


def before_member_leaves(tx: Tx, project_id: str, user_id: str) -> list[Callable[[], None]]:
    """A member leaves a project; returns functions to call once their threads are released."""
    return [one.threads.before_member_leaves(tx, project_id, user_id) for one in subjects()]


def copy_to_fork(tx: Tx, thread_id: str, fork_id: str, messages: Mapping[str, str]) -> Mapping[str, str]:
    """A thread was copied: copy the proposals of its answers too. Ids of copies by ids of originals."""
    copied: dict[str, str] = {}
    for one in subjects():
        copied.update(one.threads.copy_to_fork(tx, thread_id, fork_id, messages))
    return copied


def announce_of_thread(tx: Tx, anchor_type: str | None, thread_id: str) -> None:
    """Announce the subject whose own thread this is, if it has one; `anchor_type` is that of the thread's anchor."""
    one = subject(anchor_type)
    found = None if one is None else tx.value(one.table.c.id, {"thread_id": thread_id})
    if one is not None and found is not None:
        one.announce(tx, found, None)


def announce_of_workspace(tx: Tx, workspace_id: str) -> None:
    """Announce the subject whose files are in a workspace, if it has one."""
    found = of_workspace(tx, workspace_id)
    if found is not None:
        found.kind.announce(tx, found.id, None)


def _with_files() -> list[Subject]:
    return [one for one in subjects() if "workspace_id" in one.table.c]

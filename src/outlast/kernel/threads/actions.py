"""Threads: list, search, make, read, rename, archive, fork, delete; their messages."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from outlast.base.errors import MalformedInput, OutlastError, ThreadBusy, UnknownProfile
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.apps import registry as apps
from outlast.kernel.limits.rules import checked_line
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.lists import Listed
from outlast.kernel.projects.permissions import require, require_thread
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.orphans import collect
from outlast.kernel.sandboxes.store import announce_to_project, give_up
from outlast.kernel.services import Services
from outlast.kernel.subjects import registry
from outlast.kernel.subjects.copies import save_files
from outlast.kernel.threads import lists
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.forks import fork_thread as copy_thread
from outlast.kernel.threads.lists import ListedThread
from outlast.kernel.threads.ports import default_agent
from outlast.kernel.threads.rules import checked_anchor, fork_title
from outlast.kernel.threads.shapes import MessageData, ThreadData
from outlast.kernel.threads.tables import threads as threads_table


@dataclass(frozen=True, slots=True)
class ThreadView:
    """A thread as its page shows it: `log_seq` is the last number of its log at the moment of reading, `lineage` the
    threads it was forked from (id, title), the nearest first, `role` the reader's in the project."""

    thread: ThreadData
    role: str
    log_seq: int
    lineage: Sequence[tuple[str, str]]


async def list_threads(
    services: Services,
    actor: Actor,
    project_id: str,
    *,
    status: str | None = "open",
    query: str = "",
    profile: str | None = None,
    before: str | None = None,
    limit: int = 50,
) -> Listed[ListedThread, str]:
    """The project's threads, last changed first; with a query those it finds, whatever their status. Those of screens
    and pages are among them, with it as their anchor; `profile` leaves only those of one agent profile."""

    def run(tx: Tx) -> Listed[ListedThread, str]:
        require(tx, actor, project_id, Right.READ)
        if query.strip():
            return lists.search_threads(tx, project_id, query, before, limit, profile=profile)
        return lists.list_threads(tx, project_id, status, before, limit, profile=profile)

    return await services.db.read(run)


async def create_thread(
    services: Services,
    actor: Actor,
    project_id: str,
    *,
    title: str | None = None,
    profile: str | None = None,
    anchor: Any = None,
) -> ThreadData:
    """Make a thread (editors), from a button or about something (`anchor`). What that names of a document must be there
    in this project, and a thread of the profile document needs it; raises `MalformedInput`, `NotFound` without."""
    profile = profile or default_agent()
    checked = new_thread_fields(services, title, profile, anchor)

    def run(tx: Tx) -> ThreadData:
        require(tx, actor, project_id, Right.EDIT)
        check_thread_rate(tx, services, actor)
        checked["anchor"] = registry.check_anchor(tx, project_id, profile, checked["anchor"])
        return threads.announce(tx, threads.add_thread(tx, project_id, actor.user_id, **checked))

    made = await services.db.write(run)
    services.warm(made.id)
    return made


def check_thread_rate(tx: Tx, services: Services, actor: Actor) -> None:
    """Raise `RateLimited` when the actor has reached the limit of new threads a minute."""
    check_made_rate(tx, threads_table, actor.user_id, services.settings.limits.threads_per_minute_per_user)


def new_thread_fields(services: Services, title: str | None, profile: str, anchor: Any) -> dict[str, Any]:
    """A new thread's fields, checked. Raises `MalformedInput`, `InputTooLarge`, `UnknownProfile`."""
    demand_profile(services, profile)
    kind = registry.subject(profile)
    if kind is not None and kind.fork is not None:
        raise MalformedInput(
            f"A thread of the profile {profile} is made with its {kind.noun}.",
            hint=f"POST /v1/projects/{{id}}/{kind.table.name} makes both; start runs on the {kind.noun}'s thread.",
            field="profile",
        )
    return {
        "title": None if title is None else checked_line("The title", title, services.settings.limits.title_chars),
        "profile": profile,
        "anchor": checked_anchor(anchor, apps.load().anchors),
    }


def demand_profile(services: Services, profile: str) -> None:
    """Raise `UnknownProfile` unless an agent profile of this name is registered."""
    listed = services.engine.agents.listed
    if profile not in listed:
        known = ", ".join(sorted(listed))
        raise UnknownProfile("There is no agent profile of this name.", hint=f"There are: {known}.", field="profile")


async def read_thread(services: Services, actor: Actor, thread_id: str) -> ThreadView:
    """One thread with what its page shows beside the messages."""
    return await services.db.read(view_thread, actor, thread_id)


def view_thread(tx: Tx, actor: Actor, thread_id: str) -> ThreadView:
    """As `read_thread`, inside a transaction that reads more of the same moment."""
    row = require_thread(tx, actor, thread_id, Right.READ)
    data = threads.thread_data(tx, thread_id)
    return ThreadView(data, require(tx, actor, row.project_id, Right.READ), row.log_seq, threads.lineage(tx, thread_id))


async def rename_thread(services: Services, actor: Actor, thread_id: str, title: str) -> ThreadData:
    """Rename a thread (editors); its subject gets the title too."""
    line = checked_line("The title", title, services.settings.limits.title_chars)

    def run(tx: Tx) -> ThreadData:
        row = require_thread(tx, actor, thread_id, Right.EDIT)
        own = registry.of_thread(tx, thread_id)
        if own is not None:  # before its thread, as everywhere
            own.kind.rename(tx, own.id, line)
        threads.rename(tx, thread_id, row.project_id, line)
        if own is not None:
            own.kind.announce(tx, own.id, actor.user_id)
        return threads.announce(tx, thread_id)

    return await services.db.write(run)


async def archive_thread(services: Services, actor: Actor, thread_id: str) -> ThreadData:
    """Hide a thread from the list (editors); it is still found by search. Raises `ThreadBusy` while a run of it has not
    ended, `ThreadOfScreen`, `ThreadOfPage` or `ThreadOfDocument` for one
    that belongs to one of these. Repeating is harmless."""

    def run(tx: Tx) -> ThreadData:
        require_thread(tx, actor, thread_id, Right.EDIT)
        _demand_its_own(tx, thread_id, "archived")
        _demand_idle(tx, thread_id)
        threads.set_status(tx, thread_id, "archived")
        return threads.announce(tx, thread_id)

    return await services.db.write(run)


async def unarchive_thread(services: Services, actor: Actor, thread_id: str) -> ThreadData:
    """Bring a thread back to the list (editors). Repeating is harmless."""

    def run(tx: Tx) -> ThreadData:
        require_thread(tx, actor, thread_id, Right.EDIT)
        threads.set_status(tx, thread_id, "open")
        return threads.announce(tx, thread_id)

    return await services.db.write(run)


async def delete_thread(services: Services, actor: Actor, thread_id: str) -> None:
    """Remove a thread with everything in it, its sandbox and files too (owners). Attached images stay in the project.
    Raises `ThreadBusy` while a run of it has not ended, `ThreadOfScreen`, `ThreadOfPage` or `ThreadOfDocument` for one
    that belongs to one of these. Once this returns the thread is gone; a sandbox that could not be ended now is ended
    later."""

    def run(tx: Tx) -> None:
        row = require_thread(tx, actor, thread_id, Right.OWN)
        _demand_its_own(tx, thread_id, "deleted")
        told_later = registry.before_delete(tx, thread_id, actor.user_id)  # before the thread, as everywhere
        _demand_idle(tx, thread_id)
        give_up(tx, row.project_id, thread_id, announce_to_project)
        threads.delete_thread(tx, thread_id)
        for tell in told_later:
            tell()

    await services.db.write(run)
    if services.machines is not None:
        with suppress(OutlastError):  # noted in the tables, and tried again every few minutes
            await collect(services.machines)


async def fork_thread(
    services: Services, actor: Actor, thread_id: str, message_id: str | None = None, title: str | None = None
) -> ThreadData:
    """Make a thread that begins as a copy of this one up to a message (None: the last), also while somebody else drives
    it or it is archived (editors). The thread itself is not changed. The fork of a screen's or page's thread
    works on one of its own, a copy with the files (and HTML) as they were at the message (without one: as they are)."""
    limit = services.settings.limits.title_chars
    chosen = None if title is None else checked_line("The title", title, limit)

    parent = await services.db.read(require_thread, actor, thread_id, Right.EDIT)
    kind = registry.subject(parent.profile)
    if message_id is None and parent.workspace_id and kind is not None and kind.fork is not None:
        await save_files(services, parent.workspace_id)

    def run(tx: Tx) -> ThreadData:
        parent = require_thread(tx, actor, thread_id, Right.EDIT)
        check_thread_rate(tx, services, actor)
        shown = chosen or fork_title(parent.title, limit)
        own = registry.of_thread(tx, thread_id)
        if own is not None and own.kind.fork is not None:
            made = own.kind.fork(tx, services, actor, own.id, shown, message_id)
            return threads.thread_data(tx, made)
        copied_id = copy_thread(
            tx, parent, actor, message_id, shown, services.copy_files, copy_proposals=registry.copy_to_fork
        )
        return threads.announce(tx, copied_id)

    return await services.db.write(run)


async def list_messages(
    services: Services, actor: Actor, thread_id: str, before: int | None = None, limit: int = 50
) -> Listed[MessageData, int]:
    """A page of a thread's messages: the newest, or those before a position."""

    def run(tx: Tx) -> Listed[MessageData, int]:
        require_thread(tx, actor, thread_id, Right.READ)
        return Listed(*threads.list_messages(tx, thread_id, before, limit))

    return await services.db.read(run)


def _demand_its_own(tx: Tx, thread_id: str, what: str) -> None:
    own = registry.of_thread(tx, thread_id)
    if own is not None:
        fields: dict[str, Any] = {"thread_id": thread_id, f"{own.kind.noun}_id": own.id}
        raise own.kind.thread_error(
            f"This thread {own.kind.thread_does} the {own.kind.noun} “{own.title}” and cannot be {what} without it.",
            **fields,
        )


def _demand_idle(tx: Tx, thread_id: str) -> None:
    active = threads.hold(tx, thread_id).active_run_id
    if active is not None:
        raise ThreadBusy(
            "The agent still works in this thread, or waits for a person.",
            hint="Wait for it, or stop it first.",
            thread_id=thread_id,
            active_run_id=active,
        )

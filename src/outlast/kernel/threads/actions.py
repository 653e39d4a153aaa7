"""Threads: list, search, create, open, read, rename, archive, fork, delete; reading and posting messages."""

from typing import Any

from outlast.base.errors import MalformedInput, UnknownModel, UnknownProfile
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.apps import registry as apps
from outlast.kernel.compactions.store import compaction_in_use
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.limits.rules import checked_line
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.lists import Listed
from outlast.kernel.mentions.actions import see_thread, tell_named
from outlast.kernel.mentions.store import anything_waits, named_in
from outlast.kernel.projects.permissions import require, require_thread
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs import views
from outlast.kernel.runs.actions import start_in
from outlast.kernel.runs.notifications import announce_thread
from outlast.kernel.runs.thread_queue import waiting_runs
from outlast.kernel.sandboxes.actions import end_given_up
from outlast.kernel.sandboxes.store import give_up
from outlast.kernel.services import Services, in_read, in_write, in_write_with_services
from outlast.kernel.streams import follow
from outlast.kernel.subjects import registry
from outlast.kernel.subjects.deletion import demand_idle
from outlast.kernel.subjects.new_subject import save_files
from outlast.kernel.threads import family, message_store, thread_list
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.called_threads import delete_called
from outlast.kernel.threads.forks import SUMMARY_MESSAGE, fork_title
from outlast.kernel.threads.forks import fork_thread as copy_thread
from outlast.kernel.threads.new_thread import check_thread_rate, new_thread_fields
from outlast.kernel.threads.ports import SUMMARY_AGENT, default_agent
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.rules import demand_open
from outlast.kernel.threads.shapes import (
    ContextAnswer,
    FamilyThreadAnswer,
    ForkAnswer,
    ListedThreadAnswer,
    MessageData,
    PostedAnswer,
    StateData,
    ThreadData,
)
from outlast.kernel.threads.state import copy_state
from outlast.kernel.threads.state import read_state as read_state_of
from outlast.kernel.threads.tables import messages as messages_table
from outlast.kernel.threads.user_input import Draft, compose

_BY_USERS = messages_table.c.role == "user"


@in_read
def list_threads(
    tx: Tx,
    actor: Actor,
    project_id: str,
    *,
    status: str | None = "open",
    query: str = "",
    profile: str | None = None,
    before: str | None = None,
    limit: int = 50,
) -> Listed[ListedThreadAnswer, str]:
    """The project's threads, last changed first; with a query the matching ones of any status. Threads of screens and
    pages are included, with their subject as the anchor; `profile` selects one agent profile."""
    require(tx, actor, project_id, Right.READ)
    if query.strip():
        return thread_list.search_threads(tx, project_id, query, before, limit, profile=profile)
    return thread_list.list_threads(tx, project_id, status, before, limit, profile=profile)


async def create_thread(
    services: Services,
    actor: Actor,
    project_id: str,
    *,
    title: str | None = None,
    profile: str | None = None,
    anchor: Any = None,
) -> ThreadData:
    """Create a thread (editors), plain or about something (`anchor`). The parts of a document that it names must exist
    in this project, and a thread of the profile document needs one; otherwise raises `MalformedInput` or `NotFound`."""
    profile = profile or default_agent()
    checked = new_thread_fields(services, title, profile, anchor)

    def run(tx: Tx) -> ThreadData:
        require(tx, actor, project_id, Right.EDIT)
        check_thread_rate(tx, services, actor)
        checked["anchor"] = registry.check_anchor(tx, project_id, profile, checked["anchor"])
        return threads.announce(tx, threads.add_thread(tx, project_id, actor.user_id, **checked))

    made = await services.db.write(run)
    services.sandboxes.warm(made.id)
    return made


async def open_thread(services: Services, actor: Actor, thread_id: str) -> dict[str, Any]:
    """The fields of a `ThreadAnswer`: a thread with everything that its page shows beside the messages, read at one
    moment. The actor counts as a follower for a while, and their mentions there as seen. Raises `NotFound`."""
    named = False

    def run(tx: Tx) -> dict[str, Any]:
        nonlocal named
        project_id = require_thread(tx, actor, thread_id, Right.READ).project_id
        data = threads.thread_data(tx, thread_id)
        active = data.active_run_id
        waiting = waiting_runs(tx, project_id, thread_id, active)
        named = anything_waits(tx, actor.user_id, thread_id=thread_id)
        return {
            **data.model_dump(),
            "cursor": follow.thread_cursor(tx, thread_id),
            "watching": [
                member.model_dump(exclude={"role"}) for member in services.presence.present(thread_id).watching
            ],
            "lineage": [{"id": one.id, "title": one.title} for one in reversed(family.list_line(tx, thread_id)[:-1])],
            "active_run": None if active is None else views.whole_run(tx, active, services.settings.sandbox),
            "queued_runs": [{"run_id": run.id, "message_id": run.message_id} for run in waiting],
            "about": registry.about(tx, project_id, data.anchor),
            "compaction": compaction_in_use(tx, thread_id),
            "context": _context(services, views.last_turn(tx, thread_id)),
            "state": read_state_of(tx, thread_id),
            "project_role": require(tx, actor, project_id, Right.READ),
        }

    opened = await services.db.read(run)
    services.watching.touch(thread_id)
    if named:
        await see_thread(services, actor, thread_id)
    return opened


def _context(services: Services, last: views.LastTurn | None) -> ContextAnswer | None:
    """None before the first turn, and if its model is no longer offered."""
    try:
        model = None if last is None else services.catalog.get(last.model)
    except UnknownModel:
        model = None
    if last is None or model is None:
        return None
    return ContextAnswer(used_tokens=last.tokens, limit_tokens=model.context_tokens)


@in_write_with_services
def rename_thread(tx: Tx, services: Services, actor: Actor, thread_id: str, title: str) -> ThreadData:
    """Rename a thread (editors); its subject gets the title too."""
    line = checked_line("The title", title, services.settings.limits.title_chars)
    row = require_thread(tx, actor, thread_id, Right.EDIT)
    own = registry.of_thread(tx, thread_id)
    if own is not None:  # a subject's row is locked before its thread's
        registry.rename(tx, own, line)
    threads.rename(tx, thread_id, row.project_id, line)
    if own is not None:
        own.kind.announce(tx, own.id, actor.user_id)
    return threads.announce(tx, thread_id)


@in_write
def archive_thread(tx: Tx, actor: Actor, thread_id: str) -> ThreadData:
    """Hide a thread from the list (editors); search still finds it. Raises `ThreadBusy` while one of its runs has not
    ended, `ThreadOfScreen`, `ThreadOfPage` or `ThreadOfDocument` for a thread of one of these. Repeating is
    harmless."""
    require_thread(tx, actor, thread_id, Right.EDIT)
    _demand_its_own(tx, thread_id, "archived")
    demand_idle(tx, thread_id, "in this thread")
    threads.set_status(tx, thread_id, "archived")
    return threads.announce(tx, thread_id)


@in_write
def unarchive_thread(tx: Tx, actor: Actor, thread_id: str) -> ThreadData:
    """Bring a thread back to the list (editors). Repeating is harmless."""
    require_thread(tx, actor, thread_id, Right.EDIT)
    threads.set_status(tx, thread_id, "open")
    return threads.announce(tx, thread_id)


async def delete_thread(services: Services, actor: Actor, thread_id: str) -> None:
    """Delete a thread with everything in it, including its sandbox and files, and the threads of agents that it called
    (owners). Attached images stay in the project. Raises `ThreadBusy` while one of its runs, or of these agents', has
    not ended, `ThreadOfScreen`, `ThreadOfPage` or `ThreadOfDocument` for a thread of one of these. Once this returns
    the thread is gone; a sandbox that could not be ended now is ended later. If it was cut off, some of the called
    agents' threads may be gone: repeat it."""

    def demand(tx: Tx) -> list[str]:
        require_thread(tx, actor, thread_id, Right.OWN)
        _demand_its_own(tx, thread_id, "deleted")
        demand_idle(tx, thread_id, "in this thread")
        return [thread_id]

    def run(tx: Tx) -> None:
        row = require_thread(tx, actor, thread_id, Right.OWN)
        _demand_its_own(tx, thread_id, "deleted")
        told_later = registry.before_delete(tx, thread_id, actor.user_id)  # subjects are locked before the thread
        demand_idle(tx, thread_id, "in this thread")
        give_up(tx, row.project_id, thread_id)
        threads.delete_thread(tx, thread_id)
        for tell in told_later:
            tell()

    await delete_called(services.db, demand)
    await services.db.write(run)
    await end_given_up(services)


async def fork_thread(
    services: Services, actor: Actor, thread_id: str, message_id: str | None = None, title: str | None = None
) -> ThreadData:
    """Create a thread that begins as a copy of this one up to a message (None for the last), also while another user
    drives it or it is archived (editors). The thread itself is not changed. The fork of a screen's or page's thread
    works on its own copy, with the files (and HTML) as they were at the message, or are now if none is given."""
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
            made = own.kind.fork(tx, services, actor, own.id, shown, message_id).thread_id
            return threads.thread_data(tx, made)
        with_files = services.sandboxes.manager is not None
        return threads.announce(tx, copy_thread(tx, parent, actor, message_id, shown, with_files=with_files))

    return await services.db.write(run)


async def fork_with_summary(
    services: Services,
    actor: Actor,
    thread_id: str,
    message_id: str | None = None,
    title: str | None = None,
    *,
    model: str | None = None,
    key: str | None = None,
) -> ForkAnswer:
    """Create a thread about the same subject that begins with a summary of this one up to a message (None for the
    last), also while another user drives it or it is archived (editors). Only the state is copied: the new thread's
    first run writes the summary, and is started like any other, by the actor, who drives the new thread. A repeated
    `key` gets the first answer. Raises `MalformedInput` for the thread of a screen or page, `NotFound` if there is
    nothing to summarize, and as `start_run`; then nothing was created."""
    limit = services.settings.limits.title_chars
    chosen = None if title is None else checked_line("The title", title, limit)

    def produce(tx: Tx, parent: ThreadRow) -> dict[str, Any]:
        agent = _summary_agent(parent.profile)
        check_thread_rate(tx, services, actor)
        last = message_store.message_in(tx, thread_id, message_id)
        fork_id = threads.add_thread(
            tx,
            parent.project_id,
            actor.user_id,
            title=chosen or fork_title(parent.title, limit),
            profile=parent.profile,
            anchor=parent.anchor,
            parent_thread_id=thread_id,
            parent_message_id=last.id,
        )
        copy_state(tx, thread_id, fork_id)
        draft = Draft(SUMMARY_MESSAGE.format(title=parent.title))
        started = start_in(tx, services, actor, fork_id, draft, model, "reject", profile=agent)
        return {"thread_id": fork_id, "run_id": started["run_id"]}

    def run(tx: Tx) -> ForkAnswer:
        parent = require_thread(tx, actor, thread_id, Right.EDIT)
        asked = request_hash("fork with summary", thread_id, message_id, chosen, model)
        made = remember(tx, actor.user_id, key, asked, lambda: produce(tx, parent))
        return ForkAnswer(**dict(threads.thread_data(tx, made["thread_id"])), run_id=made["run_id"])

    return await services.db.write(run)


def _summary_agent(profile: str) -> str:
    """The agent that summarizes a thread of this profile. Raises `MalformedInput` if its forks copy files as well."""
    kind = registry.subject(profile)
    if kind is not None and kind.fork is not None:
        raise MalformedInput(
            f"The thread of a {profile} is forked with its {profile}, not with a summary.",
            hint="Fork it without a summary: the fork works on its own copy.",
            field="summary",
        )
    agent = apps.implementation(SUMMARY_AGENT)
    if not agent:
        raise UnknownProfile("This server has no agent that summarizes conversations.", field="summary")
    return agent


@in_read
def read_family(tx: Tx, actor: Actor, thread_id: str) -> list[FamilyThreadAnswer]:
    """The thread with its ancestors and all their forks, parents before children; at most 200."""
    require_thread(tx, actor, thread_id, Right.READ)
    return family.list_family(tx, thread_id)


@in_read
def read_state(tx: Tx, actor: Actor, thread_id: str) -> StateData:
    """The state that the thread's agents keep; in a thread of a called agent, that of the thread which called it."""
    require_thread(tx, actor, thread_id, Right.READ)
    return read_state_of(tx, thread_id)


@in_read
def list_messages(
    tx: Tx, actor: Actor, thread_id: str, before: int | None = None, limit: int = 50
) -> Listed[MessageData, int]:
    """A page of a thread's messages: the newest, or those before a position."""
    require_thread(tx, actor, thread_id, Right.READ)
    return Listed(*message_store.list_messages(tx, thread_id, before, limit))


async def post_message(
    services: Services, actor: Actor, thread_id: str, draft: Draft, *, key: str | None = None
) -> PostedAnswer:
    """Add a message (editors; no lock needed); members named in it find it in their inbox. `@agent` in it starts a run
    that answers it, queued behind the active run, with all requirements of starting one. A repeated `key` gets the
    first answer. Raises `ThreadArchived`, the errors of `compose`, and with `@agent` those of `start_run`."""
    asked = request_hash("post", thread_id, draft.content, list(draft.parts), list(draft.images), list(draft.mentions))
    limits = services.settings.limits

    def produce(tx: Tx, row: ThreadRow) -> dict[str, Any]:
        if named_in(tx, row.project_id, draft.text).agent:
            return start_in(tx, services, actor, thread_id, draft, None, "enqueue")
        check_made_rate(
            tx, messages_table, actor.user_id, limits.messages_per_minute_per_user, by="sender_id", which=_BY_USERS
        )
        demand_open(threads.hold(tx, thread_id).status, thread_id)
        parts = compose(tx, row.project_id, thread_id, draft, limits)
        message = message_store.add_message(tx, thread_id, "user", actor.user_id, "complete", parts)
        announce_thread(tx, thread_id)
        tell_named(tx, actor, row.project_id, message, draft.mentions)
        return {"message_id": message.id, "run_id": None}

    def run(tx: Tx) -> PostedAnswer:
        row = require_thread(tx, actor, thread_id, Right.EDIT)
        made = remember(tx, actor.user_id, key, asked, lambda: produce(tx, row))
        return PostedAnswer(**dict(message_store.message_data(tx, made["message_id"])), started_run_id=made["run_id"])

    posted = await services.db.write(run)
    if posted.started_run_id is not None:
        services.sandboxes.warm(thread_id)
    return posted


def _demand_its_own(tx: Tx, thread_id: str, what: str) -> None:
    own = registry.of_thread(tx, thread_id)
    if own is not None:
        fields: dict[str, Any] = {"thread_id": thread_id, f"{own.kind.noun}_id": own.id}
        raise own.kind.thread_error(
            f"This thread {own.kind.thread_does} the {own.kind.noun} “{own.title}” and cannot be {what} without it.",
            **fields,
        )

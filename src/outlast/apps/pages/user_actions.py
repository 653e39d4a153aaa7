"""Actions of people on pages: an action starts a run, or waits with others for the next one; it can be cancelled."""

from collections.abc import Mapping
from typing import Any

import anyio.to_thread

from outlast.apps.pages import store as pages
from outlast.apps.pages import user_action_store as store
from outlast.apps.pages.offered_actions import Offer, demand_fields, offer_of
from outlast.apps.pages.rows import PageRow
from outlast.apps.pages.settings import PageSettings
from outlast.apps.pages.shapes import ActionAnswer, ActionState, PageAction
from outlast.apps.pages.store import require_page
from outlast.apps.pages.tables import page_actions as page_actions_table
from outlast.apps.pages.user_action_rules import checked_action, told
from outlast.apps.pages.user_action_store import NamedAction
from outlast.base.errors import ActionNotOffered, ActionsFull, ActionTaken, Forbidden, InputTooLarge
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.limits.rules import check_bytes
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.lists import Listed
from outlast.kernel.locks import thread_locks
from outlast.kernel.projects.permissions import require
from outlast.kernel.projects.rules import Right, Role
from outlast.kernel.runs import store as runs
from outlast.kernel.runs.actions import start_in
from outlast.kernel.runs.cancel import request_cancel
from outlast.kernel.runs.thread_queue import last_queued
from outlast.kernel.runs.transcript import Run
from outlast.kernel.services import Services, in_read
from outlast.kernel.threads import message_store
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.parts import TextPart
from outlast.kernel.threads.rules import demand_open
from outlast.kernel.threads.user_input import Draft


async def act(
    services: Services,
    actor: Actor,
    page_id: str,
    name: str,
    data: Mapping[str, Any],
    *,
    model: str | None = None,
    key: str | None = None,
) -> ActionAnswer:
    """Store an action of a person on a page (editors; refused if another member holds the lock). If no run is active,
    one starts, like any run; else the action joins the run that waits for its turn, or queues a new one. `model` None
    uses that of the page's last run. A repeated `key` returns the first answer, and so does an equal action of the same
    person whose run has not ended, unless the page's element has `data-repeat`. Raises `MalformedInput`,
    `ActionNotOffered`, `RateLimited`, `ActionsFull`, and the errors of `start_run`; then nothing was stored."""
    name, values = checked_action(name, data)
    asked = request_hash("action", page_id, name, values, model)

    def produce(tx: Tx) -> dict[str, Any]:
        limits = services.settings.limits
        check_made_rate(
            tx, page_actions_table, actor.user_id, limits.actions_per_minute_per_user, things="actions", by="user_id"
        )
        page = pages.hold(tx, page_id)
        if isinstance(offered, ActionNotOffered):
            raise offered
        demand_fields(offered, values)
        same = store.find_same(tx, page_id, actor.user_id, name, values, newest=offered.changes)
        if same is not None and not offered.repeats:
            # A second click while the first action waits does nothing: it gets the first answer.
            first = same.action
            return _answer(first.id, first.state, first.run_id, page.thread_id)
        demand_open(threads.hold(tx, page.thread_id).status, page.thread_id)
        joined = _joinable(tx, page.thread_id)
        waiting = len(store.open_of_run(tx, joined.id)) if joined else store.count_waiting(tx, page_id)
        most = services.settings.of(PageSettings).actions_waiting
        if waiting >= most:
            text = f"{waiting} actions already wait for the next run; at most {most} are allowed."
            raise ActionsFull(text, waiting=waiting, limit=most)
        if joined is None:
            return _start(tx, services, actor, page, name, values, model)
        return _join(tx, services, actor, page, joined, name, values)

    offered = await _offered(services, actor, page_id, name)

    def run(tx: Tx) -> ActionAnswer:
        require_page(tx, actor, page_id, Right.EDIT)
        return ActionAnswer(**remember(tx, actor.user_id, key, asked, lambda: produce(tx)))

    acted = await services.db.write(run)
    services.sandboxes.warm(acted.thread_id)
    return acted


async def _offered(services: Services, actor: Actor, page_id: str, name: str) -> Offer | ActionNotOffered:
    """The page's current offer under this name; read before any row is held, because it may be a megabyte. The refusal
    is kept for later: a repeated request gets its first answer, even if the page has changed."""
    await services.db.read(require_page, actor, page_id, Right.EDIT)
    html = (await services.db.read(pages.page_of, page_id)).html
    try:
        return await anyio.to_thread.run_sync(offer_of, html, name)
    except ActionNotOffered as refused:
        return refused


@in_read
def list_actions(
    tx: Tx, actor: Actor, page_id: str, *, state: ActionState | None = None, before: str | None = None, limit: int = 50
) -> Listed[PageAction, str]:
    """Actions of people on a page, newest first."""
    require_page(tx, actor, page_id, Right.READ)
    return store.list_actions(tx, page_id, state, before, limit)


async def take_back(services: Services, actor: Actor, page_id: str, action_id: str) -> None:
    """Cancel a waiting action (the user who did it, and owners). The run that it waited for continues without
    it; a run without any action left is cancelled. Repeating is harmless. Raises `ActionTaken` once its run's turn
    has come."""

    def run(tx: Tx) -> None:
        member = require_page(tx, actor, page_id, Right.EDIT)
        runs.hold_open_runs(tx, member.thread_id)
        page = pages.hold(tx, page_id)
        threads.hold(tx, page.thread_id)
        row = store.action_of(tx, page_id, action_id)
        _demand_own(row, require(tx, actor, page.project_id, Right.EDIT), actor)
        if row.action.state == "dropped":
            return
        run_id = row.action.run_id if row.action.state == "waiting" else None
        waited_for = None if run_id is None else runs.hold_run(tx, run_id)
        if waited_for is None or waited_for.leg != "blocked":
            raise ActionTaken(
                f"This action no longer waits: it is {row.action.state}.",
                id=action_id,
                state=row.action.state,
                run_id=row.action.run_id,
            )
        store.drop(tx, page.thread_id, page_id, action_id)
        if store.open_of_run(tx, waited_for.id):
            _tell_again(tx, services, waited_for)
        else:
            request_cancel(tx, services.engine, waited_for.id, "user", actor.user_id)

    await services.db.write(run)


def _joinable(tx: Tx, thread_id: str) -> Run | None:
    """The run that takes the next action too, held: the newest of the thread, if it is a run for actions that has not
    begun. A later message keeps its place: the action waits behind it."""
    newest = last_queued(tx, thread_id)
    if newest is None or _begun(runs.run_of(tx, newest)):
        return None
    run = runs.hold_run_if_free(tx, newest)  # a worker holds its run before the page: never wait for it here
    if run is None or _begun(run) or run.mode != "start" or not store.open_of_run(tx, newest):
        return None
    return run


def _begun(run: Run) -> bool:
    return run.attempt > 0 or run.leg not in ("blocked", "ready")


def _start(
    tx: Tx, services: Services, actor: Actor, page: PageRow, name: str, data: dict[str, Any], model: str | None
) -> dict[str, Any]:
    """The first action of a new run, which starts at once or waits for its turn."""
    draft = Draft(content=told([(name, data)]))
    chosen = model or _last_model(tx, services, page.thread_id)
    started = start_in(tx, services, actor, page.thread_id, draft, chosen, "enqueue")
    return _add(tx, page, actor, runs.run_of(tx, started["run_id"]), name, data)


def _join(
    tx: Tx, services: Services, actor: Actor, page: PageRow, run: Run, name: str, data: dict[str, Any]
) -> dict[str, Any]:
    """Add an action to a run that has not begun."""
    thread_locks.drive(tx, page.thread_id, page.project_id, actor, services.settings.locks.ttl_s)
    acted = _add(tx, page, actor, run, name, data)
    _tell_again(tx, services, run)
    pages.touch(tx, page.thread_id)
    if run.leg == "ready":  # on PostgreSQL a worker may just have passed over the row that is held here
        tx.ring(runs.BELL)
    return acted


def _add(tx: Tx, page: PageRow, actor: Actor, run: Run, name: str, data: dict[str, Any]) -> dict[str, Any]:
    state: ActionState = "waiting" if run.leg == "blocked" else "taken"
    action_id = store.add(tx, page, name, data, user_id=actor.user_id, run_id=run.id, state=state)
    return _answer(action_id, state, run.id, page.thread_id)


def _answer(action_id: str, state: ActionState, run_id: str | None, thread_id: str) -> dict[str, Any]:
    """An `ActionAnswer`, as stored for an idempotency key."""
    return {"action_id": action_id, "state": state, "run_id": run_id, "thread_id": thread_id}


def _tell_again(tx: Tx, services: Services, run: Run) -> None:
    """Update the run's message to its current actions."""
    text = told([(row.action.name, row.action.data) for row in store.open_of_run(tx, run.id)])
    try:
        check_bytes("The message", len(text.encode()), services.settings.limits.message_bytes)
    except InputTooLarge as error:
        raise ActionsFull(
            "The waiting actions already fill the next run's message.",
            size_bytes=error.fields["size_bytes"],
            limit_bytes=error.fields["limit_bytes"],
        ) from None
    part = message_store.message_in(tx, run.thread_id, run.message_id).parts[0]["id"]
    message_store.rewrite_message(tx, run.project_id, run.message_id, [TextPart(id=part, text=text).model_dump()])


def _last_model(tx: Tx, services: Services, thread_id: str) -> str | None:
    """The model that was last chosen on the page, if it is still offered, else None for the default."""
    model = runs.last_model(tx, thread_id)
    offered = {spec.id for spec in services.catalog.list() if services.catalog.missing_key(spec.provider) is None}
    return model if model in offered else None


def _demand_own(row: NamedAction, role: Role, actor: Actor) -> None:
    if role is not Role.OWNER and row.action.user_id != actor.user_id:
        raise Forbidden(
            f"{row.by_name} started this action.",
            hint="Only that person and the project's owners can cancel it.",
            action_id=row.action.id,
        )

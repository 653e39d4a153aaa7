"""Runs: start, cancel, retry, continue, resume, read, list, export. One transaction each, permission first."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import anyio

from outlast.base.errors import ModelKeyRefused, RunFinished, RunNotContinuable
from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.agents.choice import demand_usable
from outlast.kernel.credits import store as ledger
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.limits.rules import clean
from outlast.kernel.limits.store import check_run_rates
from outlast.kernel.lists import Listed
from outlast.kernel.locks import thread_locks
from outlast.kernel.mentions.actions import tell_named
from outlast.kernel.models.protocol import ModelSpec
from outlast.kernel.projects import store as projects
from outlast.kernel.projects.permissions import require, require_run, require_thread
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs import cache_shares as caching
from outlast.kernel.runs import parked as parking
from outlast.kernel.runs import run_list, store, views
from outlast.kernel.runs.cancel import request_cancel
from outlast.kernel.runs.notifications import announce_thread
from outlast.kernel.runs.permissions import require_steering
from outlast.kernel.runs.rows import RunRow
from outlast.kernel.runs.rules import ENDED, may_continue, may_retry
from outlast.kernel.runs.shapes import CacheShareAnswer, OnBusy, RunAnswer, RunSummaryAnswer, StartedAnswer
from outlast.kernel.runs.thread_queue import NewRun, active_run, find_place, let_wait_for, queue_run
from outlast.kernel.services import Services, in_read
from outlast.kernel.subjects import registry
from outlast.kernel.subjects.hooks import call_run_hook
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.message_store import add_message, message_in
from outlast.kernel.threads.new_thread import new_thread_fields
from outlast.kernel.threads.ports import default_agent
from outlast.kernel.threads.rules import demand_open
from outlast.kernel.threads.user_input import Draft, compose, demand_vision

ENDS = {"completed": "it is complete", "cancelled": "it was cancelled", "error": "it failed"}
CONFIRM_S = 2.0  # a cancel is confirmed within this time


@dataclass(frozen=True, slots=True)
class NewThread:
    """The thread that a start creates when the request names none. Without a project it is the caller's default one."""

    project_id: str | None = None
    profile: str | None = None
    title: str | None = None


async def start_run(
    services: Services,
    actor: Actor,
    target: str | NewThread,
    draft: Draft,
    *,
    model: str | None = None,
    on_busy: OnBusy = "reject",
    key: str | None = None,
) -> StartedAnswer:
    """Post the message and queue a run that answers it, in a thread (by id) or a new one. Returns as soon as both are
    durable. A repeated `key` gets the first answer. Raises `ThreadBusy`, `ThreadLocked`, `ThreadArchived`,
    `CreditsNeeded`, `RateLimited`, `UnknownModel`, `VisionUnsupported`, and the errors of composing a message; after
    an error nothing was changed."""
    given = [list(draft.parts), list(draft.images), list(draft.mentions)]
    asked = request_hash(str(target), draft.content, given, model, on_busy)

    def run(tx: Tx) -> dict[str, Any]:
        if key is not None:
            _demand_editor(tx, actor, target)
        made = remember(
            tx, actor.user_id, key, asked, lambda: start_in(tx, services, actor, target, draft, model, on_busy)
        )
        if key is not None:  # the caller's default project may have changed since
            require_thread(tx, actor, made["thread_id"], Right.EDIT)
        return made

    started = StartedAnswer(**await services.db.write(run), cursor=0)
    services.sandboxes.warm(started.thread_id)  # after the commit: a refused start creates no sandbox
    return started


async def cancel_run(services: Services, actor: Actor, run_id: str) -> RunSummaryAnswer:
    """Cancel a run; repeating is harmless, the first cancel counts. Returns when the run has ended, or after two
    seconds at the latest. Raises `RunFinished` for a run that completed or failed before."""

    def run(tx: Tx) -> str:
        row = require_steering(tx, actor, run_id)
        if row.status in ("completed", "error"):
            raise RunFinished(f"This run has already ended: {ENDS[row.status]}.", run_id=run_id, status=row.status)
        request_cancel(tx, services.engine, run_id, "user", actor.user_id)
        return str(row.status)

    await services.db.write(run)
    with services.hub.listen(run_id) as channel, anyio.move_on_after(CONFIRM_S):
        while True:
            version = channel.version  # before the row is read: an end meanwhile rings again
            summary = await services.db.read(run_list.summary_of, run_id)
            if summary.status in ENDED:
                return summary
            await channel.wait(version)
    # Not confirmed in time: the flag is saved, and `cancel_force` ends the run instead of its worker.
    return await services.db.read(run_list.summary_of, run_id)


async def retry_run(
    services: Services, actor: Actor, run_id: str, *, model: str | None = None, key: str | None = None
) -> StartedAnswer:
    """A new run for the same message, from its start. Raises as `start_run`, and `RunNotContinuable` while the run
    works."""
    return await _start_again(services, actor, run_id, "retry", model, key)


async def continue_run(
    services: Services, actor: Actor, run_id: str, *, model: str | None = None, key: str | None = None
) -> StartedAnswer:
    """A new run that continues from the point where a failed or cancelled one stopped. Raises as `start_run`,
    `RunNotContinuable`, and `RunCleanedUp` once its records are removed."""
    return await _start_again(services, actor, run_id, "continue", model, key)


async def resume_run(services: Services, actor: Actor, run_id: str) -> RunSummaryAnswer:
    """Wake a paused run and its sandbox without a decision; the run then waits again. No effect on a run that already
    waits."""

    def run(tx: Tx) -> str | None:
        require_steering(tx, actor, run_id)
        held = store.hold_run(tx, run_id)
        if held.status in ENDED:
            raise RunFinished(f"This run has already ended: {ENDS[held.status]}.", run_id=run_id, status=held.status)
        if held.status == "paused":
            parking.wake(tx, services.settings, held)
        return held.workspace_id

    workspace_id = await services.db.write(run)
    # After a kill here the sandbox stays asleep: the first call after a decision wakes it.
    if workspace_id is not None and services.sandboxes.steps is not None:
        await services.sandboxes.steps.thaw(workspace_id)
    return await services.db.read(run_list.summary_of, run_id)


async def read_run(services: Services, actor: Actor, run_id: str) -> RunAnswer:
    """The polling fallback: status, saved parts, pending decisions, steps, clocks. Counts as following for a while."""

    def read(tx: Tx) -> RunAnswer:
        require_run(tx, actor, run_id, Right.READ)
        return views.whole_run(tx, run_id, services.settings.sandbox)

    run = await services.db.read(read)
    services.watching.touch(run.thread_id)
    return run


@in_read
def list_runs(
    tx: Tx,
    actor: Actor,
    *,
    project_id: str | None = None,
    thread_id: str | None = None,
    status: str | None = None,
    query: str = "",
    before: str | None = None,
    limit: int = 50,
) -> Listed[RunSummaryAnswer, str]:
    """Runs of one project, or of all of the actor's, newest first."""
    mine = _readable_projects(tx, actor, project_id)
    return run_list.list_summaries(
        tx, mine, thread_id=thread_id, status=status, query=query, before=before, limit=limit
    )


def _readable_projects(tx: Tx, actor: Actor, project_id: str | None) -> list[str]:
    """This project, if the actor may read it, or all projects of the actor if None."""
    if project_id is None:
        return [project.id for project in projects.list_projects(tx, actor.user_id)]
    require(tx, actor, project_id, Right.READ)
    return [project_id]


async def cache_shares(
    services: Services, actor: Actor, project_id: str | None = None, days: int = caching.CACHE_DAYS
) -> list[CacheShareAnswer]:
    """Share of the prompts that models read from a cache, by provider: in runs of the last `days` days of one project,
    or of all projects of the actor."""
    provider = {model.id: model.provider for model in services.engine.catalog.list()}

    def run(tx: Tx) -> list[CacheShareAnswer]:
        mine = _readable_projects(tx, actor, project_id)
        since = tx.now - timedelta(days=days)
        return caching.cache_shares(tx, mine, since, lambda model: provider.get(model, ""))

    return await services.db.read(run)


@in_read
def export_run(tx: Tx, actor: Actor, run_id: str) -> dict[str, Any]:
    """Everything about one run as plain JSON. Raises `RunCleanedUp` once its records are removed."""
    require_run(tx, actor, run_id, Right.READ)
    store.require_records(tx, run_id)
    return views.export_of(tx, run_id)


def start_in(
    tx: Tx,
    services: Services,
    actor: Actor,
    target: str | NewThread,
    draft: Draft,
    model: str | None,
    on_busy: OnBusy,
    *,
    profile: str | None = None,
    trigger: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """As `start_run`, inside a larger transaction; `profile` overrides the thread's agent, `trigger` is what starts the
    run instead of the actor. Returns the fields of `StartedAnswer`, as plain JSON; call
    `services.sandboxes.warm(thread_id)` after the commit."""
    if isinstance(target, str):
        thread_id, is_new = target, False
        agent = require_thread(tx, actor, thread_id, Right.EDIT).profile
        if on_busy == "interrupt":  # it ends one of them: runs are locked before the subject and the thread
            store.hold_open_runs(tx, thread_id)
    else:
        thread_id, agent = _new_thread(tx, services, actor, target, draft)
        is_new = True
    failed = call_run_hook(tx, agent, "was started", lambda hooks: hooks.on_start(tx, thread_id))
    held, agents, instructions = threads.hold_to_start(tx, thread_id)  # after its runs and its subject, as workers do
    demand_open(held.status, thread_id)
    project_id = held.project_id
    demand_usable(services.engine.agents, held.profile if profile is None else profile, agents, project_id)
    spec = _require_usable_model(services, model)
    parts = compose(tx, project_id, thread_id, draft, services.settings.limits)
    _require_allowed(tx, services, actor, project_id, spec, parts)
    # The thread's row is held, so no other start gets the same place.
    waits_for = None if is_new else find_place(tx, thread_id, on_busy)
    _hold_payers(tx, actor, active_run(tx, thread_id) if on_busy == "interrupt" else None)
    thread_locks.drive(tx, thread_id, project_id, actor, services.settings.locks.ttl_s)
    message = add_message(tx, thread_id, "user", actor.user_id, "complete", parts)
    new_run_id = new_id("run")  # before the run is created: the runs behind the interrupted one wait for it
    if waits_for is not None and on_busy == "interrupt":
        waits_for = _interrupt(tx, services, thread_id, actor, new_run_id)
    new = NewRun(
        project_id, thread_id, held.workspace_id, profile or held.profile, spec, message.id, actor.user_id,
        instructions=instructions, trigger=trigger,
    )  # fmt: skip
    run_id = queue_run(tx, services.engine, new, waits_for, new_run_id)
    store.add_problems(tx, run_id, failed)
    announce_thread(tx, thread_id)
    tell_named(tx, actor, project_id, message, draft.mentions, draft.told)
    return {"run_id": run_id, "thread_id": thread_id, "message_id": message.id}


def _demand_editor(tx: Tx, actor: Actor, target: str | NewThread) -> None:
    """Raise unless the actor may start a run there. Called before an earlier answer is repeated."""
    if isinstance(target, str):
        require_thread(tx, actor, target, Right.EDIT)
    elif target.project_id is not None:
        require(tx, actor, target.project_id, Right.EDIT)


def _new_thread(tx: Tx, services: Services, actor: Actor, new: NewThread, draft: Draft) -> tuple[str, str]:
    """The id of the created thread, and its agent."""
    project_id = new.project_id or projects.ensure_default_project(tx, actor.user_id)
    require(tx, actor, project_id, Right.EDIT)
    fields = new_thread_fields(services, new.title, new.profile or default_agent(), None)
    fields["anchor"] = registry.check_anchor(tx, project_id, fields["profile"], fields["anchor"])
    thread_id = threads.add_thread(tx, project_id, actor.user_id, **fields, first_message=clean(draft.text))
    return thread_id, fields["profile"]


def _require_usable_model(services: Services, model: str | None) -> ModelSpec:
    """The model, if it is configured and its key is set: refused now, before anything is charged."""
    spec = services.catalog.get(model) if model else services.catalog.default
    missing = services.catalog.missing_key(spec.provider)
    if missing is not None:
        raise ModelKeyRefused(
            f"{spec.label} cannot be used: the environment variable {missing} is not set on the server.",
            model=spec.id,
            api_key_env=missing,
        )
    return spec


def _require_allowed(
    tx: Tx, services: Services, actor: Actor, project_id: str, spec: ModelSpec, parts: Sequence[Mapping[str, Any]]
) -> None:
    """Raise if the model cannot read the message, or the actor starts too many runs."""
    demand_vision(spec, parts)
    limits = services.settings.limits
    check_run_rates(tx, actor.user_id, project_id, limits.runs_per_minute_per_user, limits.runs_per_minute_per_project)


def _hold_payers(tx: Tx, actor: Actor, interrupted: str | None) -> None:
    """Hold the payers of the new run and of the run that it interrupts: before the project's log, which the end of a
    run takes after its payer."""
    paid = None if interrupted is None else ledger.payer_of(tx, interrupted)
    ledger.hold_payers(tx, {actor.user_id} | ({paid} if paid is not None else set()))


def _interrupt(tx: Tx, services: Services, thread_id: str, actor: Actor, new_run_id: str) -> str | None:
    """Cancel the active run; runs queued behind it wait for the new one instead. Returns the cancelled run if it has
    not ended."""
    run_id = active_run(tx, thread_id)
    if run_id is None:
        return None
    let_wait_for(tx, run_id, new_run_id)
    request_cancel(tx, services.engine, run_id, "superseded", actor.user_id)
    return None if store.run_of(tx, run_id).leg == "ended" else run_id


async def _start_again(
    services: Services, actor: Actor, run_id: str, mode: str, model: str | None, key: str | None
) -> StartedAnswer:
    def produce(tx: Tx, row: RunRow) -> dict[str, Any]:
        thread, agents, instructions = threads.hold_to_start(tx, row.thread_id)
        demand_open(thread.status, row.thread_id)
        demand_usable(services.engine.agents, row.profile, agents, row.project_id)
        store.require_records(tx, run_id)
        allowed, what = (may_continue, "continued") if mode == "continue" else (may_retry, "retried")
        if not allowed(row.status, row.stop_reason):
            raise RunNotContinuable(
                f"This run cannot be {what}: {ENDS.get(row.status, 'it has not ended')}.",
                hint="Send a new message." if row.status in ENDED else "Wait for it to end, or cancel it.",
                run_id=run_id,
                status=row.status,
            )
        find_place(tx, row.thread_id, "reject")  # the thread's row is held, as in a start
        spec = _require_usable_model(services, model or row.model)
        parts = message_in(tx, row.thread_id, row.message_id).parts
        _require_allowed(tx, services, actor, row.project_id, spec, parts)
        _hold_payers(tx, actor, None)
        thread_locks.drive(tx, row.thread_id, row.project_id, actor, services.settings.locks.ttl_s)
        new = NewRun(
            row.project_id, row.thread_id, thread.workspace_id, row.profile, spec, row.message_id,
            actor.user_id, mode, run_id, instructions,
        )  # fmt: skip
        again_id = queue_run(tx, services.engine, new, None)
        failed = call_run_hook(
            tx, row.profile, "was started", lambda hooks: hooks.on_again(tx, row.thread_id, run_id, again_id)
        )
        store.add_problems(tx, again_id, failed)
        announce_thread(tx, row.thread_id)
        return {"run_id": again_id, "thread_id": row.thread_id, "message_id": row.message_id}

    def run(tx: Tx) -> dict[str, Any]:
        row = require_run(tx, actor, run_id, Right.EDIT)
        asked = request_hash(run_id, mode, model)
        return remember(tx, actor.user_id, key, asked, lambda: produce(tx, row))

    return StartedAnswer(**await services.db.write(run), cursor=0)

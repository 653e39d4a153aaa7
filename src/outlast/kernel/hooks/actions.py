"""Incoming webhooks: owners make, change and delete them; programs call them."""

from collections.abc import Mapping
from typing import Any, Final

import anyio.to_thread
import orjson

from outlast.base.errors import Forbidden, InputTooLarge, MalformedInput, NotFound, OutlastError, RateLimited
from outlast.base.ids import new_id
from outlast.base.webhook_errors import HookMakerLost, HookSecretWrong, TooManyWebhooks, WebhookOff
from outlast.db.database import Tx
from outlast.kernel.accounts import store as accounts
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.secrets import hash_of
from outlast.kernel.agents.choice import demand_choosable
from outlast.kernel.hooks import store
from outlast.kernel.hooks.rows import HookRow
from outlast.kernel.hooks.shapes import (
    HookAnswer,
    HookCallAnswer,
    HookChanges,
    HookRequest,
    HookStartedAnswer,
    NewHookAnswer,
)
from outlast.kernel.hooks.tables import hook_calls, hooks
from outlast.kernel.hooks.template import checked_template, render_message
from outlast.kernel.hooks.verification import is_genuine, sender_id_of
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.lists import Listed
from outlast.kernel.projects.permissions import require, require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs.actions import NewThread, start_in
from outlast.kernel.services import Services, in_read, in_write, in_write_with_services
from outlast.kernel.threads.ports import default_agent
from outlast.kernel.threads.tables import threads
from outlast.kernel.threads.user_input import Draft
from outlast.kernel.webhooks.signatures import new_secret

MOST_BYTES: Final = 256_000


@in_write_with_services
def create_hook(tx: Tx, services: Services, actor: Actor, project_id: str, wanted: HookRequest) -> NewHookAnswer:
    """Make an address that starts runs as the actor (owners). Only this answer has its secret. Raises
    `MalformedInput`, `UnknownProfile`, `TooManyWebhooks`."""
    require(tx, actor, project_id, Right.OWN)
    values = wanted.model_dump() | {"profile": wanted.profile or default_agent()}
    values = _checked(services, values)
    if (count := store.count_of(tx, project_id)) >= services.settings.webhooks.most_per_project:
        raise TooManyWebhooks(f"The project has {count} incoming webhooks, the limit.", project_id=project_id)
    hook_id = new_id("hook")
    secret, sealed = _make_secret(tx, services, hook_id)
    store.add(tx, id=hook_id, project_id=project_id, secret=sealed, created_by=actor.user_id, **values)
    return NewHookAnswer(**store.hook_data(tx, hook_id).model_dump(), secret=secret)


@in_read
def list_hooks(tx: Tx, actor: Actor, project_id: str) -> list[HookAnswer]:
    """The incoming webhooks of a project (owners), newest first."""
    require(tx, actor, project_id, Right.OWN)
    return store.list_hooks(tx, project_id)


@in_write_with_services
def change_hook(tx: Tx, services: Services, actor: Actor, hook_id: str, changes: HookChanges) -> HookAnswer:
    """Change an incoming webhook (owners). Who changes what its runs do becomes its maker: no user decides what
    runs of another one do."""
    _require_hook(tx, actor, hook_id)
    values = _checked(services, changes.model_dump(exclude_none=True))
    if "profile" in values or "thread" in values:
        values["thread_id"] = None  # the next call begins another thread
    if values.keys() & {"template", "profile", "thread"}:
        values["created_by"] = actor.user_id
    if values:
        store.change(tx, hook_id, **values)
    return store.hook_data(tx, hook_id)


@in_write_with_services
def rotate_hook_secret(tx: Tx, services: Services, actor: Actor, hook_id: str) -> NewHookAnswer:
    """Give an incoming webhook a new secret (owners), which only this answer has. The old one is invalid at once. The
    actor becomes its maker, as in `change_hook`."""
    _require_hook(tx, actor, hook_id)
    secret, sealed = _make_secret(tx, services, hook_id)
    store.change(tx, hook_id, secret=sealed, created_by=actor.user_id)
    return NewHookAnswer(**store.hook_data(tx, hook_id).model_dump(), secret=secret)


@in_write
def delete_hook(tx: Tx, actor: Actor, hook_id: str) -> None:
    """Delete an incoming webhook and the list of its calls (owners). Its threads and runs stay."""
    _require_hook(tx, actor, hook_id)
    store.delete(tx, hook_id)


@in_read
def list_calls(tx: Tx, actor: Actor, hook_id: str, before: str | None, limit: int) -> Listed[HookCallAnswer, str]:
    """The last calls of an incoming webhook (owners), newest first."""
    _require_hook(tx, actor, hook_id)
    return store.list_calls(tx, hook_id, before, limit)


async def call_hook(services: Services, hook_id: str, headers: Mapping[str, str], body: bytes) -> HookStartedAnswer:
    """Start a run with the message that the template makes of the body, as the maker of the hook. `headers` in lower
    case. A call with the sender's id is repeated safely for a day. Raises `HookSecretWrong`, also if there is no such
    address, `WebhookOff`, `HookMakerLost`, `MalformedInput`, `InputTooLarge`, `RateLimited`, and as `start_run`."""
    if len(body) > MOST_BYTES:
        raise InputTooLarge(f"The body is larger than {MOST_BYTES:,} bytes.", limit_bytes=MOST_BYTES)
    hook = await services.db.read(store.find_hook, hook_id)
    if hook is None or not is_genuine(_secret_of(services, hook), headers, body, services.clock.now()):
        raise HookSecretWrong("The call has no valid secret or signature.")
    sender_id = sender_id_of(headers)
    try:
        # Not in the transaction: a large body in many places of a template takes a while.
        message = await anyio.to_thread.run_sync(_message_of, hook.template, body)
        started = await services.db.write(_start, services, hook_id, sender_id, body, hook.template, message)
    except RateLimited:  # not listed: otherwise a loop of a program fills the list
        raise
    except OutlastError as error:
        refused = {"code": error.code, "reason": error.message}
        await services.db.write(store.add_call, hook_id, sender_id, refused)
        raise
    services.sandboxes.warm(started.thread_id)
    return started


def _start(
    tx: Tx, services: Services, hook_id: str, sender_id: str, body: bytes, template: str, message: str
) -> HookStartedAnswer:
    """In one transaction: the call, the message and the run. `message` was made with `template`."""
    hook = store.hold_hook(tx, hook_id)
    if hook is None or not hook.enabled:
        raise WebhookOff("The incoming webhook is turned off.", id=hook_id)
    limit = services.settings.webhooks.calls_per_minute
    check_made_rate(tx, hook_calls, hook_id, limit, things="calls", by="hook_id")
    maker = Actor(hook.created_by, accounts.user(tx, hook.created_by).name, "token")
    _demand_maker(tx, maker, hook)
    draft = Draft(message if hook.template == template else _message_of(hook.template, body))
    key = f"{hook_id}:{hash_of(sender_id)}" if sender_id else None
    made = remember(
        tx,
        maker.user_id,
        key,
        request_hash(hook_id, hash_of(body.decode("utf-8", "surrogateescape"))),
        lambda: start_in(tx, services, maker, _target(tx, hook), draft, None, "enqueue"),
    )
    started = HookStartedAnswer(run_id=made["run_id"], thread_id=made["thread_id"])
    if hook.thread == "same" and hook.thread_id != started.thread_id:
        store.change(tx, hook_id, thread_id=started.thread_id)
    store.add_call(tx, hook_id, sender_id, started.model_dump())
    return started


def _demand_maker(tx: Tx, maker: Actor, hook: HookRow) -> None:
    try:
        require(tx, maker, hook.project_id, Right.EDIT)
    except (NotFound, Forbidden):
        raise HookMakerLost(
            "The person who made this address may no longer start runs in the project.", id=hook.id
        ) from None


def _target(tx: Tx, hook: HookRow) -> str | NewThread:
    """The thread that the calls share, unless it was deleted, or a new one."""
    if hook.thread == "same" and hook.thread_id is not None and tx.exists(threads, {"id": hook.thread_id}):
        return hook.thread_id
    return NewThread(hook.project_id, hook.profile, hook.title)


def _message_of(template: str, body: bytes) -> str:
    return render_message(template, _parsed(body))


def _parsed(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise MalformedInput("The body of a call must be JSON.", field="body") from None


def _require_hook(tx: Tx, actor: Actor, hook_id: str) -> HookRow:
    return require_owned(tx, actor, HookRow, hooks, "incoming webhook", hook_id, Right.OWN)


def _checked(services: Services, values: dict[str, Any]) -> dict[str, Any]:
    """The given agent and template, checked."""
    if "profile" in values:
        demand_choosable(services.engine.agents, values["profile"])
    if "template" in values:
        values["template"] = checked_template(values["template"])
    return values


def _make_secret(tx: Tx, services: Services, hook_id: str) -> tuple[str, str]:
    secret = new_secret()
    return secret, services.vault.seal(tx, secret, _about(hook_id))


def _secret_of(services: Services, hook: HookRow) -> str:
    return services.vault.open(hook.secret, _about(hook.id))


def _about(hook_id: str) -> str:
    return f"hooks.secret {hook_id}"

"""Incoming webhooks and their calls in the database. First argument: the open transaction."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.base.ids import new_id
from outlast.base.lookups import demand_found
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.hooks.rows import HookCallRow, HookRow
from outlast.kernel.hooks.shapes import HookAnswer, HookCallAnswer
from outlast.kernel.hooks.tables import hook_calls, hooks
from outlast.kernel.lists import Listed
from outlast.kernel.row_shapes import shape_of

CALLS_KEPT: Final = 500  # of one hook
_SHOWN: Final = sa.select(hooks, users.c.name.label("creator")).join(users, users.c.id == hooks.c.created_by)


class _Shown(NamedTuple):
    hook: HookRow
    creator: str


def add(tx: Tx, **values: Any) -> None:
    """Add a hook; `values` are its columns without the time."""
    tx.insert(hooks, created_at=tx.now, **values)


def find_hook(tx: Tx, hook_id: str) -> HookRow | None:
    """The hook's row, or None."""
    return tx.find(HookRow, hooks, {"id": hook_id})


def hold_hook(tx: Tx, hook_id: str) -> HookRow | None:
    """The hook's row, locked until the transaction ends, or None: calls that share a thread come one after the
    other."""
    return tx.row(HookRow, sa.select(hooks).where(hooks.c.id == hook_id).with_for_update())


def count_of(tx: Tx, project_id: str) -> int:
    """The number of hooks of a project."""
    mine = sa.select(sa.func.count()).select_from(hooks).where(hooks.c.project_id == project_id)
    return int(tx.execute(mine).scalar_one())


def hook_data(tx: Tx, hook_id: str) -> HookAnswer:
    """Raises `NotFound`."""
    row = tx.row(_Shown, _SHOWN.where(hooks.c.id == hook_id))
    return _data(demand_found(row, "There is no such incoming webhook.", id=hook_id))


def list_hooks(tx: Tx, project_id: str) -> list[HookAnswer]:
    """The hooks of a project, newest first."""
    rows = tx.rows(_Shown, _SHOWN.where(hooks.c.project_id == project_id).order_by(hooks.c.id.desc()))
    return [_data(row) for row in rows]


def _data(row: _Shown) -> HookAnswer:
    return shape_of(HookAnswer, row.hook, path=f"/v1/hooks/{row.hook.id}", created_by_name=row.creator)


def change(tx: Tx, hook_id: str, **values: Any) -> None:
    """Set columns of a hook."""
    tx.update(hooks, {"id": hook_id}, **values)


def delete(tx: Tx, hook_id: str) -> None:
    """Delete a hook with its calls."""
    tx.execute(sa.delete(hooks).where(hooks.c.id == hook_id))


def add_call(tx: Tx, hook_id: str, sender_id: str, outcome: Mapping[str, str]) -> None:
    """Note a call: the `run_id` and `thread_id` that it started, or the `code` and `reason` of its error. The oldest
    calls beyond `CALLS_KEPT` are removed."""
    call = dict.fromkeys(("run_id", "thread_id", "code", "reason")) | dict(outcome)
    tx.insert(hook_calls, id=new_id("hook_call"), hook_id=hook_id, sender_id=sender_id, created_at=tx.now, **call)
    mine = hook_calls.c.hook_id == hook_id
    oldest = sa.select(hook_calls.c.id).where(mine).order_by(hook_calls.c.id.desc()).offset(CALLS_KEPT).limit(1)
    if (last := tx.execute(oldest).scalar()) is not None:
        tx.execute(sa.delete(hook_calls).where(mine, hook_calls.c.id <= last))


def list_calls(tx: Tx, hook_id: str, before: str | None, limit: int) -> Listed[HookCallAnswer, str]:
    """At most `limit` calls of a hook, newest first, those before the id `before`."""
    chosen = sa.select(hook_calls).where(hook_calls.c.hook_id == hook_id)
    if before is not None:
        chosen = chosen.where(hook_calls.c.id < before)
    rows = tx.rows(HookCallRow, chosen.order_by(hook_calls.c.id.desc()).limit(limit + 1))
    shown = [shape_of(HookCallAnswer, row) for row in rows[:limit]]
    return Listed(shown, shown[-1].id if len(rows) > limit else None)

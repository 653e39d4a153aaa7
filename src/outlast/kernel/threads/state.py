"""The state of a thread: a JSON object that its agents keep there. The first argument is always the open transaction.

The runs that a run calls have threads of their own, and share the state of the thread at the top.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson

from outlast.base.agent_errors import StateTooLarge
from outlast.db.database import Tx
from outlast.kernel.runs.tables import runs
from outlast.kernel.streams.log_store import append
from outlast.kernel.threads import store
from outlast.kernel.threads.rows import ThreadStateRow
from outlast.kernel.threads.shapes import StateChanged, StateData
from outlast.kernel.threads.tables import thread_states, threads

MAX_BYTES: Final = 64 * 1024


class StateOwner(NamedTuple):
    """The run that changes a state, and the thread that the run is in."""

    thread_id: str
    run_id: str


def read_state(tx: Tx, thread_id: str) -> StateData:
    """The state that the thread's agents read; revision 0 before the first change."""
    owner = _thread_at_the_top(tx, thread_id)
    row = _row_of(tx, owner)
    return StateData(thread_id=owner, revision=row.revision, values=row.content)


def set_value(tx: Tx, by: StateOwner, key: str, value: Any) -> None:
    """Set one value. Raises `StateTooLarge`; then nothing was written."""
    row = _held(tx, by.thread_id)
    _write(tx, by, row, {**row.content, key: value})


def replace_state(tx: Tx, by: StateOwner, values: Mapping[str, Any], revision: int) -> bool:
    """Replace all values, if the state still has this revision. Raises as `set_value`."""
    row = _held(tx, by.thread_id)
    if row.revision != revision:
        return False
    _write(tx, by, row, values)
    return True


def copy_state(tx: Tx, from_thread_id: str, to_thread_id: str) -> None:
    """Give a new thread the state as it is now."""
    state = read_state(tx, from_thread_id)
    if state.revision:
        tx.insert(thread_states, thread_id=to_thread_id, content=state.values, revision=state.revision)


def _thread_at_the_top(tx: Tx, thread_id: str) -> str:
    while (caller := tx.value(threads.c.caller_run_id, {"id": thread_id})) is not None:
        above: str | None = tx.value(runs.c.thread_id, {"id": caller})
        if above is None:
            break
        thread_id = above
    return thread_id


def _row_of(tx: Tx, thread_id: str) -> ThreadStateRow:
    row = tx.find(ThreadStateRow, thread_states, {"thread_id": thread_id})
    return row or ThreadStateRow(thread_id=thread_id, content={}, revision=0)


def _held(tx: Tx, thread_id: str) -> ThreadStateRow:
    """The state, locked until the transaction ends."""
    owner = _thread_at_the_top(tx, thread_id)
    store.hold(tx, owner)
    return _row_of(tx, owner)


def _differs(values: Mapping[str, Any], key: str, value: Any) -> bool:
    """Compared as JSON: for Python, true equals 1."""
    return key not in values or orjson.dumps(values[key]) != orjson.dumps(value)


def _write(tx: Tx, by: StateOwner, before: ThreadStateRow, values: Mapping[str, Any]) -> None:
    size = len(orjson.dumps(values))
    if size > MAX_BYTES:
        raise StateTooLarge(
            f"The state of a thread has at most {MAX_BYTES:,} bytes as JSON; this would have {size:,}.",
            bytes=size,
            limit_bytes=MAX_BYTES,
        )
    changed = {key: value for key, value in values.items() if _differs(before.content, key, value)}
    removed = [key for key in before.content if key not in values]
    if not changed and not removed:
        return
    revision = before.revision + 1
    if before.revision:
        tx.update(thread_states, {"thread_id": before.thread_id}, content=dict(values), revision=revision)
    else:
        tx.insert(thread_states, thread_id=before.thread_id, content=dict(values), revision=revision)
    told = StateChanged(
        thread_id=before.thread_id, run_id=by.run_id, revision=revision, values=changed, removed=removed
    )
    append(tx, before.thread_id, [("state.changed", told)])

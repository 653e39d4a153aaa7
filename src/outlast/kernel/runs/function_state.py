"""The state of a thread, as the journal of a function reads and writes it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import orjson
from pydantic_core import from_json

from outlast.base.agent_errors import StateBusy, StateTooLarge
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.journal import PLAIN, RunJournal, Write
from outlast.kernel.threads import state

MAX_KEY_CHARS: Final = 200
MAX_TRIES: Final = 100
Values = dict[str, Any]


class FunctionState:
    """Implements `State` for one function."""

    def __init__(self, context: RunContext, journal: RunJournal) -> None:
        self._journal, self._db = journal, context.engine.db
        self._owner = state.StateOwner(context.run.thread_id, context.run.id)

    async def get(self, key: str, default: Any = None) -> Any:
        found = await self._journal.perform("state", f"get {key}", partial(self._found, key))
        return found.get("value", default)

    async def all(self) -> Values:
        values: Values = await self._journal.perform("state", "all", partial(self._values))
        return values

    async def set(self, key: str, value: Any) -> None:
        async def prepare() -> Write:
            key_, value_ = _require_key(key), _json(value)
            return Write(b"null", lambda tx: state.set_value(tx, self._owner, key_, value_))

        await self._journal.write("state", f"set {key}", prepare)

    async def update(self, change: Callable[[Values], Mapping[str, Any]]) -> Values:
        tries = 0

        async def prepare() -> Write:
            nonlocal tries
            tries += 1
            if tries > MAX_TRIES:
                raise StateBusy(f"Other runs changed the state {MAX_TRIES} times before this change could be saved.")
            now = await self._db.read(state.read_state, self._owner.thread_id)
            values = _object(change(now.values))
            return Write(orjson.dumps(values), lambda tx: state.replace_state(tx, self._owner, values, now.revision))

        updated: Values = await self._journal.write("state", "update", prepare)
        return updated

    async def _values(self) -> Values:
        return (await self._db.read(state.read_state, self._owner.thread_id)).values

    async def _found(self, key: str) -> Values:
        """The value by the name `value`, so that null differs from none."""
        values = await self._values()
        return {"value": values[key]} if _require_key(key) in values else {}


def _require_key(key: Any) -> str:
    if not isinstance(key, str) or not 1 <= len(key) <= MAX_KEY_CHARS:
        raise ValueError(f"a key of the state is a text of 1 to {MAX_KEY_CHARS} characters, not {str(key)[:50]!r}")
    return key


def _object(values: Any) -> Values:
    if not isinstance(values, Mapping):
        raise TypeError(f"the change of a state returns an object, not {type(values).__name__}")
    return {_require_key(key): _json(value) for key, value in values.items()}


def _json(value: Any) -> Any:
    """The value as plain JSON. Raises `ValueError` for one that JSON cannot hold, `StateTooLarge`."""
    body = PLAIN.dump_json(value)
    if len(body) > state.MAX_BYTES:
        raise StateTooLarge(
            f"The state of a thread has at most {state.MAX_BYTES:,} bytes as JSON; one value has {len(body):,}."
        )
    plain = from_json(body)
    orjson.dumps(plain)  # what the database and the log take: no number of more than 64 bits
    return plain

"""Rules for the actions that a page sends: validation, the message for the agent, and state changes. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import orjson

from outlast.apps.pages.shapes import ActionState
from outlast.base.errors import MalformedInput
from outlast.kernel.limits.rules import clean

DATA_BYTES: Final = 16_000
NAME: Final = re.compile(r"[a-z][a-z0-9_.:-]{0,63}")
_ENDS: Final[Mapping[str, ActionState]] = {"completed": "done", "cancelled": "failed", "error": "failed"}
_SEPARATORS: Final = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029", "\u0085": "\\u0085"})


def checked_action(name: str, data: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """An action's name and values, if valid. Raises `MalformedInput`."""
    if NAME.fullmatch(name) is None:
        raise MalformedInput(
            "This is not a valid action name.",
            hint="Use a-z first, then a-z, 0-9 and _ . : -, at most 64 characters in all.",
            field="name",
        )
    try:
        text = orjson.dumps(_cleaned(data))
    except (TypeError, RecursionError) as error:
        raise MalformedInput(
            "The action's data is not plain JSON.",
            hint="Use numbers of at most 64 bits, texts, lists and objects, without deep nesting.",
            field="data",
        ) from error
    size = len(text)
    if size > DATA_BYTES:
        raise MalformedInput(
            f"The action's data has {size:,} bytes; at most {DATA_BYTES:,} are accepted.",
            hint="Send less: an action describes what the user did, not the content of the page.",
            field="data",
        )
    return name, orjson.loads(text)


def _cleaned(value: Any) -> Any:
    """The value without characters that no database can store."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(name): _cleaned(item) for name, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list) else value


def told(actions: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """The text of actions for the agent, one line each, in order: `1. Action: refresh Data: {}`. A line break in a
    value is escaped as in JSON, so that no value can pass for another line."""
    return "\n".join(
        f"{number}. Action: {name} Data: {orjson.dumps(data).decode().translate(_SEPARATORS)}"
        for number, (name, data) in enumerate(actions, start=1)
    )


def end_of(run_status: str, problems: Sequence[str], *, begun: bool) -> ActionState:
    """The state of the actions of a run that has ended: done if its answer is charged for; dropped if a person
    cancelled it before it began."""
    if run_status == "cancelled" and not begun:
        return "dropped"
    return "failed" if problems else _ENDS[run_status]

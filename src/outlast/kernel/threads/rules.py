"""Checks of a thread's input. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from outlast.base.errors import MalformedInput, ThreadArchived
from outlast.kernel.limits.rules import clean

NEW_TITLE: Final = "New thread"
TITLE_CHARS: Final = 60
ANCHOR_BYTES: Final = 20_000
IN_DOCUMENTS: Final = ("document", "section", "comment", "selection")
ANCHOR_IDS: Final = ("id", "document_id", "section_id", "block_id")
ANCHOR_DEPTH: Final = 20
ID_CHARS: Final = 40  # the size of the tables' columns
_LOOKED_AT_CHARS: Final = 20_000
_MARKS: Final = "#>*-` \t"


def title_from(text: str) -> str:
    """A title from a first message: its first line with words, without Markdown marks, at most 60 characters. At most
    `_LOOKED_AT_CHARS` of the message are read."""
    lines = (" ".join(line.strip(_MARKS).split()) for line in text[:_LOOKED_AT_CHARS].splitlines())
    line = next((line for line in lines if line), "")
    if len(line) <= TITLE_CHARS:
        return line or NEW_TITLE
    cut = line[: TITLE_CHARS - 1]
    head, space, _ = cut.rpartition(" ")
    return (head if space and len(head) > TITLE_CHARS // 2 else cut).rstrip(" ,;:.") + "…"


def checked_anchor(anchor: Any, types: Sequence[str]) -> dict[str, Any] | None:
    """The checked anchor of a thread: `{type, id?, text?, …}` with one of these types, at most 20 kB as JSON, with
    texts that every database can store; None for none. Raises `MalformedInput` with the reason."""
    if anchor is None:
        return None
    if not isinstance(anchor, Mapping) or anchor.get("type") not in types:
        raise MalformedInput(f"An anchor must be an object whose type is one of {', '.join(types)}.", field="anchor")
    for name in ("id", "text"):
        if not isinstance(anchor.get(name, ""), str):
            raise MalformedInput(f"The anchor's {name} must be a string.", field=f"anchor.{name}")
    checked: dict[str, Any] = _cleaned(anchor, ANCHOR_DEPTH)
    for name in ANCHOR_IDS:
        value = checked.get(name)
        if value is not None and (not isinstance(value, str) or len(value) > ID_CHARS):
            raise MalformedInput(
                f"The anchor's {name} must be a string of at most {ID_CHARS} characters.", field=f"anchor.{name}"
            )
    try:
        size = len(orjson.dumps(checked))
    except TypeError as error:
        raise MalformedInput(f"The anchor is not plain JSON: {error}.", field="anchor") from None
    if size > ANCHOR_BYTES:
        raise MalformedInput(
            f"The anchor has {size:,} bytes; at most {ANCHOR_BYTES:,} are accepted.", field="anchor", size_bytes=size
        )
    return checked


def _cleaned(value: Any, depth: int) -> Any:
    """Plain JSON with `clean` texts and names. Raises `MalformedInput` for more than `depth` levels of it."""
    if isinstance(value, str):
        return clean(value)
    if not isinstance(value, Mapping | list):
        return value
    if not depth:
        raise MalformedInput(f"The anchor is nested more than {ANCHOR_DEPTH} levels deep.", field="anchor")
    if isinstance(value, list):
        return [_cleaned(item, depth - 1) for item in value]
    return {_cleaned(name, depth - 1): _cleaned(item, depth - 1) for name, item in value.items()}


def document_of(anchor: Mapping[str, Any] | None) -> str | None:
    """The id of the document that an anchor is, or is part of; None if there is none."""
    if anchor is None or anchor.get("type") not in IN_DOCUMENTS:
        return None
    found = anchor.get("id") if anchor.get("type") == "document" else anchor.get("document_id")
    return found if isinstance(found, str) else None


def demand_open(status: str, thread_id: str) -> None:
    """Raise `ThreadArchived` if the thread is archived."""
    if status != "open":
        raise ThreadArchived("This thread is archived and accepts no new messages.", thread_id=thread_id)


def text_of(parts: list[dict[str, Any]]) -> str:
    """The text of a message for search and titles: its text parts, joined by line breaks."""
    return "\n".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")

"""Reads elements from source files: tag, classes, text, and which of them can be edited by hand."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final

from outlast.apps.screens.edits.apply import find, read_source
from outlast.apps.screens.edits.marks import parse_mark
from outlast.apps.screens.edits.shapes import ElementAnswer, RefusalAnswer, ValueAnswer
from outlast.apps.screens.edits.slots import (
    ATTRIBUTES,
    PICTURES,
    Refusal,
    Slot,
    attribute_slot,
    class_slot,
    plain,
    text_slot,
)
from outlast.apps.screens.edits.syntax import Element, Parsed
from outlast.base.errors import MalformedInput, PathRefused

MAX_CPU_S: Final = 2.0  # of the parsing of all files; one file may take half a second
_TOO_SLOW: Final = Refusal("source_too_large", "The files take too long to read.", "Select fewer elements.")


def read_elements(files: Mapping[str, bytes], locs: Sequence[str]) -> list[ElementAnswer]:
    """One answer for each element, in order. Never raises for what the files hold. Each file is parsed once, within the
    bounds of `parse` and, all together, of `MAX_CPU_S`: call it in a thread."""
    until = time.thread_time() + MAX_CPU_S
    parsed = {
        path: read_source(path, source) if time.thread_time() < until else _TOO_SLOW for path, source in files.items()
    }
    return [_read(parsed, loc) for loc in locs]


def _read(files: Mapping[str, Parsed | Refusal], loc: str) -> ElementAnswer:
    try:
        mark = parse_mark(loc)
    except (MalformedInput, PathRefused) as error:
        return _refused_answer(loc, Refusal("not_source", error.message, error.hint))
    parsed = files.get(mark.path) or read_source(mark.path, None)
    if isinstance(parsed, Refusal):
        return _refused_answer(loc, parsed)
    element = find(parsed, mark)
    return _refused_answer(loc, element) if isinstance(element, Refusal) else _element_answer(loc, element)


def _element_answer(loc: str, element: Element) -> ElementAnswer:
    names = ATTRIBUTES if element.name in PICTURES else ()
    text = _value(text_slot(element))
    shown = None if text.value is None else plain(text.value)
    return ElementAnswer(
        loc=loc,
        tag=element.name,
        classes=_value(class_slot(element)),
        text=text.model_copy(update={"value": shown}),
        attributes={name: _value(attribute_slot(element, name)) for name in names},
        refusal=None,
    )


def _value(slot: Slot | Refusal) -> ValueAnswer:
    if isinstance(slot, Refusal):
        return ValueAnswer(value=None, partly=False, refusal=RefusalAnswer(**asdict(slot)))
    return ValueAnswer(value=slot.value, partly=slot.partly, refusal=None)


def _refused_answer(loc: str, why: Refusal) -> ElementAnswer:
    return ElementAnswer(
        loc=loc, tag=None, classes=None, text=None, attributes={}, refusal=RefusalAnswer(**asdict(why))
    )

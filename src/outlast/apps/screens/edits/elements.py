"""What the source says of an element, and which of it can be edited by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

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


def read_elements(files: Mapping[str, bytes], locs: Sequence[str]) -> list[ElementAnswer]:
    """What the files say of each element, in order. Never raises for what they hold. Each file is parsed once, within
    the bounds of `parse`: call it in a thread."""
    parsed = {path: read_source(path, source) for path, source in files.items()}
    return [_read(parsed, loc) for loc in locs]


def _read(files: Mapping[str, Parsed | Refusal], loc: str) -> ElementAnswer:
    try:
        mark = parse_mark(loc)
    except (MalformedInput, PathRefused) as error:
        return _nothing(loc, Refusal("not_source", error.message, error.hint))
    parsed = files.get(mark.path) or Refusal("no_file", "Its file is gone.", "Reload the screen.")
    element = parsed if isinstance(parsed, Refusal) else find(parsed, mark)
    return _nothing(loc, element) if isinstance(element, Refusal) else _described(loc, element)


def _described(loc: str, element: Element) -> ElementAnswer:
    names = ATTRIBUTES if element.name in PICTURES else ()
    words = _value(text_slot(element))
    shown = None if words.value is None else plain(words.value)
    return ElementAnswer(
        loc=loc,
        tag=element.name,
        classes=_value(class_slot(element)),
        text=words.model_copy(update={"value": shown}),
        attributes={name: _value(attribute_slot(element, name)) for name in names},
        refusal=None,
    )


def _value(slot: Slot | Refusal) -> ValueAnswer:
    if isinstance(slot, Refusal):
        return ValueAnswer(value=None, partly=False, refusal=RefusalAnswer(**asdict(slot)))
    return ValueAnswer(value=slot.value, partly=slot.partly, refusal=None)


def _nothing(loc: str, why: Refusal) -> ElementAnswer:
    return ElementAnswer(
        loc=loc, tag=None, classes=None, text=None, attributes={}, refusal=RefusalAnswer(**asdict(why))
    )

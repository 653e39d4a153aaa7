"""docs/reference/events.md, from the closed union of events."""

from typing import Any, get_args

from pydantic import BaseModel

from outlast.base import events
from outlast.base.events import Event
from outlast.surfaces.contract.pages import code, heading, page, prose, table

INTRODUCTION = prose("events")


def write() -> str:
    """The page."""
    lines = heading("Events", INTRODUCTION)
    lines += [
        "## Events",
        "",
        *table(("event", "data", "meaning"), (row for kind in _kinds() for row in _rows(kind))),
    ]
    lines += ["## What they carry", ""]
    for model in _models():
        lines += [f"### {model.__name__}", ""]
        if _own_doc(model):
            lines += [_own_doc(model), ""]
        fields = (
            (code(name), code(_type(field.annotation)), _needed(field))
            for name, field in model.model_fields.items()
        )
        lines += table(("field", "type", "default"), fields)
    return page(lines)


def _kinds() -> list[type[BaseModel]]:
    return list(get_args(get_args(Event)[0]))


def _rows(kind: type[BaseModel]) -> list[tuple[str, str, str]]:
    names = get_args(kind.model_fields["event"].annotation)
    data = kind.model_fields["data"].annotation
    assert isinstance(data, type)
    assert issubclass(data, BaseModel)
    return [(code(name), f"[{data.__name__}](#{data.__name__.lower()})", _own_doc(data)) for name in names]


def _models() -> list[type[BaseModel]]:
    """Every model of the module that is no envelope, in the file's order."""
    known = [
        value
        for value in vars(events).values()
        if isinstance(value, type) and issubclass(value, events.Frozen)
    ]
    return [kind for kind in known if kind is not events.Frozen and not issubclass(kind, events.Envelope)]


def _own_doc(model: type[BaseModel]) -> str:
    return " ".join((vars(model).get("__doc__") or "").split())


def _type(annotation: Any) -> str:
    """An annotation as Python writes it, without modules."""
    plain = isinstance(annotation, type) and not get_args(annotation)
    text = annotation.__name__ if plain else str(annotation)
    if "TextPart | " in text:
        return "list[Part]" if text.startswith("list") else "Part"
    return text.replace("outlast.base.events.", "").replace("outlast.base.parts.", "").replace("typing.", "")


def _needed(field: Any) -> str:
    return "required" if field.is_required() else code(repr(field.get_default(call_default_factory=True)))

"""The shapes of the API and its events, for clients in any language: each once, by its client name."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from scripts.clients.names import NAMES, TYPES
from scripts.contract.schemas import event_schema, openapi_schema

Schema = Mapping[str, Any]
PAGE: Final = "Page_"  # FastAPI's name for `Page[Item]` is `Page_Item_`
SUFFIXES: Final = ("Answer", "Reply")


@dataclass(frozen=True, slots=True)
class Property:
    """A property that is not `required` is optional in requests; responses have all properties."""

    name: str
    schema: Schema
    required: bool
    doc: str


@dataclass(frozen=True, slots=True)
class Shape:
    name: str
    doc: str
    properties: tuple[Property, ...]


@cache
def shapes() -> tuple[Shape, ...]:
    """All object shapes by name, without pages of lists, uploads and envelopes of events."""
    requests = _requests()
    shown = {name: schema for name, schema in _schemas().items() if not _is_built_in(name, schema)}
    return tuple(sorted((_shape(name, schema, name in requests) for name, schema in shown.items()), key=_name))


@cache
def events() -> tuple[tuple[str, str], ...]:
    """Each event's name with the shape name of its data, in the order of the closed list."""
    defs = event_schema()["$defs"]
    envelopes = [defs[_target(one["$ref"])] for one in event_schema()["oneOf"]]
    return tuple(
        (name, client_name(envelope["properties"]["data"]["$ref"]))
        for envelope in envelopes
        for name in _event_names(envelope)
    )


def named_types() -> Iterator[tuple[str, Schema]]:
    """Named unions, each with its schema."""
    by_name = {shape.name: {one.name: one for one in shape.properties} for shape in shapes()}
    for name, place in TYPES.items():
        owner, _, key = place.partition(".")
        schema = by_name[owner][key].schema
        yield name, without_null(schema.get("items", schema))


def without_null(schema: Schema) -> Schema:
    """The schema without null."""
    options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    return options[0] if len(options) == 1 else {**schema, "anyOf": options} if options else schema


def client_name(reference: str) -> str:
    """The client name of a referenced schema: its own name, without a suffix if that name is free."""
    name = _target(reference)
    if name in NAMES:
        return NAMES[name]
    for suffix in SUFFIXES:
        short = name.removesuffix(suffix)
        if short != name and short not in _schemas() and short not in NAMES.values() and short not in TYPES:
            return short
    return name


def page_item(reference: str) -> str | None:
    """The name of the items if the schema is a page of a list, or None."""
    name = _target(reference)
    return client_name(name.removeprefix(PAGE).removesuffix("_")) if name.startswith(PAGE) else None


def paragraph(text: str, width: int) -> list[str]:
    """A description as lines; an empty list for none."""
    return textwrap.wrap(" ".join(text.replace("*/", "* /").split()), width)


def _shape(name: str, schema: Schema, request: bool) -> Shape:
    required = schema.get("required", ())
    properties = tuple(
        Property(key, one, not request or key in required, one.get("description", ""))
        for key, one in schema.get("properties", {}).items()
    )
    return Shape(client_name(name), schema.get("description", ""), properties)


@cache
def _schemas() -> dict[str, Schema]:
    """The API's version wins if both name a shape: an event may come from an older server."""
    return {**event_schema()["$defs"], **openapi_schema()["components"]["schemas"]}


def _is_built_in(name: str, schema: Schema) -> bool:
    is_envelope = {"event", "data", "sequenceNumber"} <= set(schema.get("properties", ()))
    return is_envelope or name.startswith((PAGE, "Body_")) or schema.get("type") != "object"


@cache
def _requests() -> frozenset[str]:
    """Names of schemas that clients send."""
    operations = [one for path in openapi_schema()["paths"].values() for one in path.values()]
    found: set[str] = set()
    left = [name for one in operations for name in _references(one.get("requestBody", {}))]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += _references(_schemas()[name])
    return frozenset(found)


def _references(node: object) -> Iterable[str]:
    if isinstance(node, Mapping):
        reference = node.get("$ref")
        yield from [_target(reference)] if isinstance(reference, str) else []
        node = list(node.values())
    if isinstance(node, list):
        for one in node:
            yield from _references(one)


def _event_names(envelope: Schema) -> list[str]:
    event = envelope["properties"]["event"]
    return [event["const"]] if "const" in event else list(event["enum"])


def _target(reference: str) -> str:
    return reference.rpartition("/")[2]


def _name(shape: Shape) -> str:
    return shape.name

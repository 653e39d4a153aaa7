"""docs/reference/events.md, from the closed list of events."""

from collections.abc import Iterator
from typing import Any

from scripts.contract.pages import code, heading, page, prose, table
from scripts.contract.schemas import event_schema
from scripts.contract.shapes_page import shape, type_name


def write() -> str:
    """The page."""
    schema = event_schema()
    shapes: dict[str, Any] = schema["$defs"]
    events = [option["$ref"].rsplit("/", 1)[-1] for option in schema["oneOf"]]
    lines = [*heading("Events", prose("events")), "## Events", ""]
    lines += table(("event", "data", "meaning"), (row for name in events for row in _rows(shapes, name)))
    lines += ["## Event data", ""]
    for name in sorted(set(shapes) - set(events)):
        lines += [f"### {name}", "", *shape(shapes[name])]
    return page(lines)


def _rows(shapes: dict[str, Any], event: str) -> Iterator[tuple[str, str, str]]:
    kind, data = (shapes[event]["properties"][name] for name in ("event", "data"))
    meaning = shapes[data["$ref"].rsplit("/", 1)[-1]].get("description", "")
    for name in kind.get("enum", [kind.get("const")]):
        yield code(name), type_name(data), " ".join(meaning.split())

"""docs/reference/shapes.md: every shape of requests and responses, from the OpenAPI document."""

import json
from typing import Any

from outlast.surfaces.http.api import create_api
from scripts.contract.pages import code, heading, page, prose, table


def write() -> str:
    """The page."""
    lines = heading("Shapes of the HTTP API", prose("shapes"))
    for name, schema in sorted(create_api().openapi()["components"]["schemas"].items()):
        lines += [f"## {title(name)}", "", *shape(schema)]
    return page(lines)


def shape(schema: dict[str, Any]) -> list[str]:
    """A shape's description, then a table of its properties."""
    about = " ".join(schema.get("description", "").split())
    needed = schema.get("required", ())
    rows = (
        (code(name), type_name(value), _default(value, name in needed), value.get("description", ""), _example(value))
        for name, value in schema.get("properties", {}).items()
    )
    return [*([about, ""] if about else []), *table(("property", "type", "default", "meaning", "example"), rows)]


def type_name(schema: dict[str, Any], at: str = "") -> str:
    """A type for the tables; other shapes are links to their place on the page `at`, or on the same page."""
    if "$ref" in schema:
        name = title(schema["$ref"].rsplit("/", 1)[-1])
        return f"[{name}]({at}#{name.lower().replace(' ', '-')})"
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return " or ".join(type_name(option, at) for option in options)
    if "const" in schema or "enum" in schema:
        return " or ".join(code(json.dumps(value)) for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {type_name(schema['items'], at)}"
    return str(schema.get("type", "any"))


def title(name: str) -> str:
    """The name of a shape; `Page_RunAnswer_` is a page of a list."""
    return f"Page of {name[5:].strip('_')}" if name.startswith("Page_") else name


def _default(schema: dict[str, Any], needed: bool) -> str:
    return "required" if needed else code(json.dumps(schema.get("default"), ensure_ascii=False))


def _example(schema: dict[str, Any]) -> str:
    return code(json.dumps(schema["examples"][0], ensure_ascii=False)) if "examples" in schema else ""

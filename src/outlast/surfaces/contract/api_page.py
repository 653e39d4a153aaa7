"""docs/reference/api.md, from the routes."""

from typing import Any

from outlast.surfaces.contract.pages import code, heading, page, prose, table
from outlast.surfaces.http.application import create_api

INTRODUCTION = prose("api")


def write() -> str:
    """The page."""
    schema = create_api().openapi()
    lines = heading("HTTP API", INTRODUCTION)
    for tag, routes in _by_tag(schema).items():
        lines += [f"## {tag}", "", *table(("route", "body", "answer", "what it does"), map(_row, routes))]
    return page(lines)


def _by_tag(schema: dict[str, Any]) -> dict[str, list[tuple[str, str, dict[str, Any]]]]:
    tags: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            tags.setdefault(route["tags"][0], []).append((method.upper(), path, route))
    return tags


def _row(entry: tuple[str, str, dict[str, Any]]) -> tuple[str, str, str, str]:
    method, path, route = entry
    query = [item["name"] for item in route.get("parameters", ()) if item["in"] == "query"]
    shown = code(f"{method} {path}{'?' + '&'.join(query) if query else ''}")
    return shown, _body(route), _answer(route), " ".join(route.get("description", "").split())


def _body(route: dict[str, Any]) -> str:
    content = route.get("requestBody", {}).get("content", {})
    return ", ".join(code(_name(body["schema"])) for body in content.values())


def _answer(route: dict[str, Any]) -> str:
    told = []
    for status, answer in route["responses"].items():
        if status.startswith("2"):
            names = [
                _name(body.get("schema", {})) or kind for kind, body in answer.get("content", {}).items()
            ]
            told.append(" ".join([status, *(code(name) for name in names)]))
    return "; ".join(told)


def _name(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]
        return f"Page[{name[5:].strip('_')}]" if name.startswith("Page_") else name
    options = [_name(option) for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    return options[0] if options else ""

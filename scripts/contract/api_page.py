"""docs/reference/api.md, from the OpenAPI document."""

import json
from typing import Any

from outlast.surfaces.http.api import create_api
from outlast.surfaces.http.descriptions import texts
from scripts.contract.pages import code, heading, page, prose, table
from scripts.contract.shapes_page import type_name


def write() -> str:
    """The page."""
    document = create_api().openapi()
    lines = heading("HTTP API", prose("api"))
    for tag in document["tags"]:
        routes = [
            (f"{method.upper()} {path}", route)
            for path, methods in document["paths"].items()
            for method, route in methods.items()
            if tag["name"] in route["tags"]
        ]
        lines += [f"## {tag['name']}", "", tag["description"], ""]
        lines += table(("route", "for", "body", "answer", "what it does"), (_row(*entry) for entry in routes))
        lines += _parameters([item for _, route in routes for item in route.get("parameters", ())])
    return page(lines)


def _row(address: str, route: dict[str, Any]) -> tuple[str, ...]:
    query = [item["name"] for item in route.get("parameters", ()) if item["in"] == "query"]
    shown = code(f"{address}{'?' + '&'.join(query) if query else ''}")
    answers = (f"{status} {_shapes(answer)}".strip() for status, answer in route["responses"].items() if status < "3")
    about = " ".join(route.get("description", "").split())
    return (
        shown,
        texts()["roles"][route["operationId"]],
        _shapes(route.get("requestBody", {})),
        "; ".join(answers),
        about,
    )


def _parameters(items: list[dict[str, Any]]) -> list[str]:
    """Each parameter of a tag's routes, once for each meaning."""
    rows = {(code(item["name"]), item["in"], item["description"], code(json.dumps(item["example"]))) for item in items}
    return table(("parameter", "in", "meaning", "example"), sorted(rows)) if rows else []


def _shapes(message: dict[str, Any]) -> str:
    """The shapes of a body or a response, or its media type if it has no shape."""
    named = (
        type_name(body["schema"], "shapes.md") if "$ref" in str(body.get("schema")) else code(kind)
        for kind, body in message.get("content", {}).items()
    )
    return ", ".join(named)

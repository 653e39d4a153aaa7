"""Whoever reads the API learns what each property and parameter means, with a value that it may have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from outlast.surfaces.http.api import create_api
from outlast.surfaces.http.descriptions import TABLES, texts
from scripts.contract.schemas import event_schema

ROOT = Path(__file__).resolve().parents[2]
API: dict[str, Any] = create_api().openapi()
SHAPES: dict[str, Any] = API["components"]["schemas"]
EVENTS: dict[str, Any] = event_schema()["$defs"]
ROUTES: list[dict[str, Any]] = [route for methods in API["paths"].values() for route in methods.values()]


def properties(shapes: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, shape in shapes.items():
        for field, schema in shape.get("properties", {}).items():
            yield f"{name}.{field}", schema


def parameters() -> Iterator[tuple[str, dict[str, Any]]]:
    for route in ROUTES:
        for item in route.get("parameters", ()):
            yield f"{route['operationId']}({item['name']})", item


def fits(value: Any, schema: dict[str, Any], shapes: dict[str, Any]) -> bool:
    whole = {**schema, "$defs": shapes} if "$ref" in json.dumps(schema) else schema
    text = json.dumps(whole).replace("#/components/schemas/", "#/$defs/")
    return jsonschema_rs.Draft202012Validator(json.loads(text)).is_valid(value)


@pytest.mark.parametrize("shapes", [SHAPES, EVENTS], ids=["requests and answers", "events"])
def test_every_property_has_a_meaning_and_an_example_that_it_may_have(shapes: dict[str, Any]) -> None:
    """A property that is another shape has the examples of that shape's properties."""
    assert [name for name, schema in properties(shapes) if not schema.get("description")] == []
    without = [(name, schema) for name, schema in properties(shapes) if "examples" not in schema]
    assert [name for name, schema in without if "$ref" not in json.dumps(schema)] == []
    given = [(name, schema) for name, schema in properties(shapes) if "examples" in schema]
    assert [name for name, schema in given if not fits(schema["examples"][0], schema, shapes)] == []


def test_every_parameter_has_a_meaning_and_an_example_that_it_may_have() -> None:
    assert [name for name, item in parameters() if not item["description"]] == []
    assert [name for name, item in parameters() if not fits(item["example"], item["schema"], SHAPES)] == []


def test_every_json_body_has_an_example_that_is_valid() -> None:
    bodies = [
        (route["operationId"], content["application/json"])
        for route in ROUTES
        if "application/json" in (content := route.get("requestBody", {}).get("content", {}))
    ]
    assert len(bodies) > 50
    assert [name for name, body in bodies if not fits(body.get("example"), body["schema"], SHAPES)] == []


def test_every_route_says_what_it_does_below_a_tag_that_is_described() -> None:
    tags = {tag["name"]: tag["description"] for tag in API["tags"]}
    assert {tag for route in ROUTES for tag in route["tags"]} == set(tags)
    assert all(tags.values())
    assert [route["operationId"] for route in ROUTES if not route.get("description")] == []


def test_programs_learn_where_the_server_is_and_how_to_sign_in() -> None:
    assert API["servers"][0]["url"] == "/"
    schemes = API["components"]["securitySchemes"]
    assert {scheme for way in API["security"] for scheme in way} == set(schemes)


def test_texts_describe_only_what_the_api_has() -> None:
    """A text whose shape, property or parameter was renamed would never be read again."""
    known = {**SHAPES, **EVENTS}
    shapes = {name: own for name, own in texts().items() if name not in {*TABLES, "document", "securitySchemes"}}
    stale = [
        f"{name}.{field}"
        for name, own in shapes.items()
        for field in {*own, *own.get("examples", {})} - {"like", "example", "examples"}
        if field not in known.get(name, {}).get("properties", {})
    ]
    used = {name.partition(".")[2] for name, _ in properties(known)}
    named = {item["name"] for _, item in parameters()}
    stale += sorted(set(texts()["fields"]) - used) + sorted(set(texts()["parameters"]) - named)
    stale += sorted(set(texts()["examples"]) - used - named)
    for route, own in texts()["routes"].items():
        items = {item["name"] for one in ROUTES if one["operationId"] == route for item in one.get("parameters", ())}
        stale += [f"{route}({name})" for name in {*own, *own.get("examples", {})} - {"examples"} - items]
    assert stale == []

"""Descriptions and examples of the API's shapes and parameters: the `api.toml` of each folder, joined into the OpenAPI
document when it is first requested, and not read before.

`[fields]` and `[parameters]` describe a name wherever it occurs, `[Shape]` describes the properties of one shape
(`like` names the shape that it extends, `example` is a request's body), `[routes.NAME]` the parameters of one route.
`[examples]`, `[Shape.examples]` and `[routes.NAME.examples]` hold values; the first that fits is used. `[roles]` names
the role that a route requires.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI

from outlast.base.ids import all_kinds

PACKAGE: Final = Path(__file__).parents[2]
TABLES: Final = ("fields", "parameters", "examples", "roles", "routes")
"""Tables that several files have."""
TYPES: Final[Any] = {"string": str, "integer": int, "number": int | float, "object": dict, "null": ()}


class DescribedApi(FastAPI):
    """FastAPI with an OpenAPI document that describes every property and parameter."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = describe(super().openapi())
        return self.openapi_schema


def describe(document: dict[str, Any]) -> dict[str, Any]:
    """Complete an OpenAPI document in place."""
    describe_shapes(document["components"]["schemas"])
    for route in (route for methods in document["paths"].values() for route in methods.values()):
        own = texts()["routes"].get(route["operationId"], {})
        for item in route.get("parameters", ()):
            name = item["name"]
            item["description"] = own.get(name) or texts()["parameters"].get(name, "")
            item["example"] = example(item["schema"], [*values(own, name), *common(name)])
        for body in route.get("requestBody", {}).get("content", {}).values():
            shape = re.search(r"schemas/(\w+)", str(body["schema"]))
            if shape and "example" in texts().get(shape[1], {}):
                body["example"] = texts()[shape[1]]["example"]
    document["components"]["securitySchemes"] = texts()["securitySchemes"]
    return {**document, **texts()["document"]}


def describe_shapes(schemas: dict[str, Any]) -> None:
    """Describe the properties of JSON schemas by name, in place."""
    for shape, schema in schemas.items():
        owners = list(lineage(shape))
        for field, value in schema.get("properties", {}).items():
            described = [owner[field] for owner in owners if field in owner]
            if described or field in texts()["fields"]:
                value["description"] = described[0] if described else texts()["fields"][field]
            chosen = [found for owner in owners for found in values(owner, field)]
            shown = example(value, [*chosen, *common(f"{noun(shape)}_id" if field == "id" else field)])
            if shown is not None:
                value["examples"] = [shown]


def lineage(shape: str) -> Iterator[dict[str, Any]]:
    """The texts of a shape, then those of the shapes that it extends."""
    while own := texts().get(shape):
        yield own
        shape = own.get("like", "")


def noun(shape: str) -> str:
    """The kind of a shape's id: the last word of its name that is a kind."""
    words = [word.lower() for word in re.findall(r"[A-Z][a-z]+", shape)]
    return next((word for word in reversed(words) if word in all_kinds()), "")


def values(owner: dict[str, Any], name: str) -> list[Any]:
    found = owner.get("examples", {}).get(name, [])
    return found if isinstance(found, list) else [found]


def common(name: str) -> list[Any]:
    """The example values of a name in all shapes; ids follow their kind."""
    kind = all_kinds().get(name.removesuffix("_id").split("_")[-1])
    return [*values(texts(), name), *([f"{kind}_01m7k3v9q2w8e5t4r6y1z0abcd"] if kind else [])]


def example(schema: dict[str, Any], chosen: list[Any]) -> Any:
    """An example of this schema; None if it is another shape, which has its own examples."""
    for kind in schema.get("anyOf", [schema]):
        if "const" in kind or "enum" in kind:
            return kind["const"] if "const" in kind else kind["enum"][0]
        if kind.get("type") == "boolean":
            return True
        if kind.get("type") == "array":
            item = example(kind["items"], chosen)
            return None if item is None else [item]
        fit = [value for value in chosen if isinstance(value, TYPES.get(kind.get("type", ""), object))]
        if fit and not {"$ref", "oneOf"} & kind.keys():
            return fit[0]
    return None


@cache
def texts() -> dict[str, Any]:
    """Every text. Raises `ValueError` if two files describe the same name."""
    joined: dict[str, Any] = {name: {} for name in TABLES}
    for file in sorted(PACKAGE.rglob("api.toml")):
        for name, table in tomllib.loads(file.read_text(encoding="utf-8")).items():
            target, new = (joined[name], table) if name in TABLES else (joined, {name: table})
            if twice := sorted(set(target) & set(new)):
                raise ValueError(f"{file} describes {twice} a second time")
            target.update(new)
    return joined

"""The two schemas of the contract."""

import json
from functools import cache
from typing import Any

from pydantic.json_schema import models_json_schema

from outlast.base.events import event_adapter
from outlast.kernel.apps import registry
from outlast.kernel.presence.shapes import EphemeralPresence
from outlast.surfaces.http.api import create_api
from outlast.surfaces.http.descriptions import describe_shapes


@cache
def openapi_schema() -> dict[str, Any]:
    """OpenAPI 3.1 of every route."""
    return create_api().openapi()


@cache
def event_schema() -> dict[str, Any]:
    """JSON Schema of every event: `$defs` has each event by its class, the schema itself is their union."""
    schema: dict[str, Any] = event_adapter(registry.load().events).json_schema()
    _, presence = models_json_schema([(EphemeralPresence, "validation")])
    schema["$defs"] |= presence["$defs"]
    describe_shapes(schema["$defs"])
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Event"
    return schema


def openapi() -> str:
    """The file `contract/openapi.json`."""
    return _text(openapi_schema())


def events() -> str:
    """The file `contract/events.json`."""
    return _text(event_schema())


def _text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False) + "\n"

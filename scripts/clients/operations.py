"""The operations of the API as methods of a client: `threads.create`, `runs.start`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from scripts.clients.shapes import Property, Schema, page_item, without_null
from scripts.contract.schemas import openapi_schema

CURSORS: Final = ("before", "after")
VERBS: Final[Mapping[str, str]] = {"change": "update", "read": "get"}
PLACES: Final[Mapping[str, str]] = {
    "accept_invitation": "invitations.accept",
    "act_on_page": "pages.act",
    "change_document": "documents.change",
    "continue_run": "runs.continue_",
    "decide_edits": "proposals.decide",
    "end_session": "session.close",
    "hand_over_section_lock": "sections.hand_over_lock",
    "import_document": "documents.import_markdown",
    "list_published_modules": "modules.list",
    "move_in_document": "documents.move",
    "place_picture": "screens.place_picture",
    "read_cache_shares": "runs.cache_shares",
    "read_health": "server.health",
    "read_logs": "sandboxes.list_logs",
    "read_me": "server.me",
    "read_mention": "mentions.mark_read",
    "read_readiness": "server.readiness",
    "run_agent_and_wait": "agent.run",
    "save_edits": "screens.save_edits",
    "undo_edits": "screens.undo_edits",
}
"""Operations whose place differs from their id."""
NOT_SOURCES: Final = frozenset({"admin", "v1"})


@dataclass(frozen=True, slots=True)
class Operation:
    """`path` has `{}` for each of `path_names`. `answers`: the schemas of its JSON; empty if it has no body or (with
    `is_bytes`) returns a file. `item`: the items of a page of a list, with the cursor `cursor`."""

    id: str
    place: str
    doc: str
    method: str
    path: str
    path_names: tuple[tuple[str, Schema], ...]
    query: tuple[Property, ...]
    body: Schema | None
    has_key: bool
    answers: tuple[Schema, ...]
    item: str | None
    cursor: str | None
    is_bytes: bool
    is_stream: bool
    is_upload: bool

    @property
    def group(self) -> str:
        return self.place.partition(".")[0]

    @property
    def name(self) -> str:
        return self.place.partition(".")[2]

    @property
    def query_name(self) -> str:
        return "".join(word.title() for word in self.id.split("_")) + "Options"


@cache
def operations() -> tuple[Operation, ...]:
    """All operations, by place."""
    found = [
        _operation(path, method, described)
        for path, methods in openapi_schema()["paths"].items()
        for method, described in methods.items()
    ]
    return tuple(sorted(found, key=lambda one: one.place))


def _operation(path: str, method: str, described: dict[str, Any]) -> Operation:
    answers = [one for status, one in described["responses"].items() if status.startswith("2")]
    contents = [one.get("content", {}) for one in answers]
    schemas = tuple(one["application/json"]["schema"] for one in contents if "application/json" in one)
    item = page_item(schemas[0].get("$ref", "")) if len(schemas) == 1 and method == "get" else None
    parameters = described.get("parameters", [])
    names = {one["name"] for one in parameters}
    cursor = next((one for one in CURSORS if item is not None and one in names), None)
    body = described.get("requestBody", {}).get("content", {})
    is_stream = any("text/event-stream" in one for one in contents)
    return Operation(
        id=described["operationId"],
        place=_place(path, described["operationId"]),
        doc=described.get("description", ""),
        method=method.upper(),
        path=re.sub(r"\{\w+\}", "{}", path),
        path_names=tuple((one["name"], one["schema"]) for one in parameters if one["in"] == "path"),
        query=tuple(
            Property(one["name"], one["schema"], one.get("required", False), one.get("description", ""))
            for one in parameters
            if one["in"] == "query" and one["name"] != cursor and not is_stream
        ),
        body=without_null(body["application/json"]["schema"]) if "application/json" in body else None,
        has_key="Idempotency-Key" in names,
        answers=schemas,
        item=item,
        cursor=cursor,
        is_bytes=not schemas and not is_stream and "204" not in described["responses"],
        is_stream=is_stream,
        is_upload="multipart/form-data" in body,
    )


def _place(path: str, operation_id: str) -> str:
    """The place of an operation in a client: for `create_thread`, the method `create` of the group `threads`."""
    if operation_id in PLACES:
        return PLACES[operation_id]
    verb, _, rest = operation_id.partition("_")
    verb = VERBS.get(verb, verb)
    for group in sorted(_groups(), key=len, reverse=True):
        for noun in (group, group.removesuffix("s"), group.removesuffix("es")):
            if rest == noun:
                return f"{group}.{verb}"
            if rest.startswith(f"{noun}_"):
                return f"{group}.{verb}_{rest.removeprefix(f'{noun}_')}"
    return f"{_segments(path)[0]}.{verb}_{rest}"


@cache
def _groups() -> frozenset[str]:
    """Nouns with their own group: the first part of paths, and the collections at their end."""
    ways = [_segments(path) for path in openapi_schema()["paths"]]
    return frozenset({way[0] for way in ways} | {way[-1] for way in ways if way[-1].endswith("s")})


def _segments(path: str) -> list[str]:
    parts = [one.replace("-", "_") for one in path.split("/") if one and not one.startswith("{")]
    return [one for one in parts if one not in NOT_SOURCES]

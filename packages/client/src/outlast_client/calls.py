"""A request as data. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple
from urllib.parse import quote
from uuid import uuid4

import httpx

SAFE: Final = frozenset({"DELETE", "GET", "PUT"})


class File(NamedTuple):
    """A file to upload."""

    name: str
    content: bytes
    media_type: str = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Call:
    """`path` has `{}` for each of `names`. With `is_keyed` the server returns the first response to a repeated request;
    the idempotency key is `key`, or generated here."""

    method: str
    path: str
    names: tuple[str | int, ...] = ()
    body: Mapping[str, Any] | None = None
    query: Mapping[str, Any] = field(default_factory=dict)
    file: File | None = None
    key: str | None = None
    is_keyed: bool = False
    is_bytes: bool = False

    @property
    def is_repeatable(self) -> bool:
        """True if repeating it after a lost response changes nothing twice."""
        return self.method in SAFE or self.is_keyed

    def url(self, base_url: str) -> str:
        """The URL without its query."""
        return base_url + self.path.format(*(quote(str(name), safe="") for name in self.names))

    def parts(self) -> dict[str, Any]:
        """The arguments for `httpx.Client.build_request`."""
        headers = {"accept": "application/json"}
        if self.is_keyed:
            headers["idempotency-key"] = self.key or str(uuid4())
        return {
            "params": {name: _serialize(value) for name, value in self.query.items() if value is not None} or None,
            "headers": headers,
            "json": None if self.body is None else dict(self.body),
            "files": None if self.file is None else {"file": tuple(self.file)},
        }

    def with_query(self, **query: str) -> "Call":
        """A copy with more query parameters, for instance the cursor of another page."""
        return replace(self, query={**self.query, **query})


def value_of(call: Call, answer: httpx.Response) -> Any:
    """The return value of a method, from a response that has been read."""
    if call.is_bytes:
        return answer.content
    return json.loads(answer.content) if answer.content else None


def _serialize(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

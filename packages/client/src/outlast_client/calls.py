"""One request, and whether it may be repeated. Pure."""

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
    """`path` has `{}` for each of `names`. With `is_keyed` the server gives a repeated request its first answer: the
    key is `key`, or made here."""

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
        """Whether it changes nothing twice when its answer was lost."""
        return self.method in SAFE or self.is_keyed

    def url(self, base_url: str) -> str:
        """The address without its query."""
        return base_url + self.path.format(*(quote(str(name), safe="") for name in self.names))

    def parts(self) -> dict[str, Any]:
        """What is sent, as `httpx.Client.build_request` takes it."""
        headers = {"accept": "application/json"}
        if self.is_keyed:
            headers["idempotency-key"] = self.key or str(uuid4())
        return {
            "params": {name: _shown(value) for name, value in self.query.items() if value is not None} or None,
            "headers": headers,
            "json": None if self.body is None else dict(self.body),
            "files": None if self.file is None else {"file": tuple(self.file)},
        }

    def with_query(self, **query: str) -> "Call":
        """The same call with more in its query; a cursor of another page, for instance."""
        return replace(self, query={**self.query, **query})


def value_of(call: Call, answer: httpx.Response) -> Any:
    """What a method returns of an answer that has been read."""
    if call.is_bytes:
        return answer.content
    return json.loads(answer.content) if answer.content else None


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

"""A request to another server, and its answer: data only."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from outlast.base.records import dataclass


@dataclass(frozen=True, slots=True)
class WebRequest:
    """A request with a form, JSON or no body. It may contain a secret: its repr shows none."""

    method: str
    url: str
    authorization: str = field(default="", repr=False)
    form: Mapping[str, str] | None = field(default=None, repr=False)
    json: Any = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """An answer. `data`: its JSON object; empty if it is none."""

    status: int
    headers: Mapping[str, str]
    data: Mapping[str, Any]

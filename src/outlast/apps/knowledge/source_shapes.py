"""Shapes of documentation's sources."""

from typing import Annotated

from pydantic import ConfigDict, Field

from outlast.apps.knowledge.shapes import SourceKind
from outlast.kernel.http.shapes import Request


class SourceRequest(Request):
    """Documentation to add: an address, a package (`npm:NAME`, `pypi:NAME`), or a text with its file name."""

    model_config = ConfigDict(str_max_length=None)

    package: Annotated[str, Field(min_length=1, max_length=300)]
    location: Annotated[str, Field(max_length=2_000)] | None = None
    text: str | None = None
    name: Annotated[str, Field(max_length=300)] | None = None
    project_id: Annotated[str, Field(max_length=100)] | None = None
    kind: SourceKind | None = None

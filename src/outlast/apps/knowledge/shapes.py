"""Shapes of documentation: sources, passages, and packages."""

from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field

from outlast.base.events import Frozen
from outlast.kernel.http.shapes import Answer, Request
from outlast.kernel.library.search import PackageAnswer

SourceKind = Literal[
    "markdown",  # one address or file
    "llms_txt",  # a list of addresses, or the whole text
    "sitemap",  # HTML pages
    "package",  # README and type declarations of an npm or PyPI package
    "folder",  # a folder of documents, also of a repository
    "text",  # uploaded by a person
    "artifact",  # the text of a project's file
]
SourceState = Literal["waiting", "fetching", "ready", "failed"]
PACKAGE_CHARS: Final = 200  # of its canonical spelling, and of the name of a text
LOCATION_CHARS: Final = 2_000


class SourceData(Frozen):
    """A source of documentation. `project_id` null: it is configured for all projects."""

    id: str
    project_id: str | None
    package: str
    kind: SourceKind
    location: str
    version: str
    state: SourceState
    error: str | None
    passages: int
    embedded: int
    size_bytes: int
    fetched_at: str | None
    checked_at: str | None
    created_at: str


class PassageData(Frozen):
    """A passage of documentation. `heading` joins the headings above it with ` › `."""

    id: str
    source_id: str
    package: str
    version: str
    position: int
    heading: str
    text: str
    url: str


class SourceChanged(Frozen):
    """A source changed. In the project's log; configured ones only while a project has followers."""

    source: SourceData


class SourceRemoved(Frozen):
    source_id: str


class PackagesReply(Answer):
    """Packages of indexed documentation, and the model that search uses for vectors."""

    items: list[PackageAnswer]
    next: str | None
    embedder: str | None
    reranker: bool


class SourceRequest(Request):
    """Documentation to add: an address, a package (`npm:NAME`, `pypi:NAME`), or a text with its file name."""

    model_config = ConfigDict(str_max_length=None)

    package: Annotated[str, Field(min_length=1, max_length=300)]
    location: Annotated[str, Field(max_length=LOCATION_CHARS)] | None = None
    text: str | None = None
    name: Annotated[str, Field(max_length=300)] | None = None
    project_id: Annotated[str, Field(max_length=100)] | None = None
    kind: SourceKind | None = None

"""Sources of documentation, and passages of them."""

from typing import Literal

from outlast.base.events import Frozen

SourceKind = Literal[
    "markdown",  # one address or file
    "llms_txt",  # a list of addresses, or the whole text
    "sitemap",  # HTML pages
    "package",  # README and type declarations of an npm or PyPI package
    "folder",  # a folder of documents, also of a repository
    "text",  # handed in by a person
    "artifact",  # the text of a project's file
]
SourceState = Literal["waiting", "fetching", "ready", "failed"]


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
    """A source changed. In the project's log; configured ones only where somebody follows it."""

    source: SourceData


class SourceRemoved(Frozen):
    source_id: str

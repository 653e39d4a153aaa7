"""Outlast's own documentation, a source of all projects from the first start: the Markdown served at /docs."""

from importlib.metadata import version
from pathlib import Path
from typing import Final

from outlast.apps.knowledge.source_documents import Document, Reading, title_of
from outlast.apps.knowledge.sources import Configured
from outlast.kernel.http.docs_site import FOLDER, docs_page

LOCATION: Final = "outlast:docs"
SOURCE: Final = Configured("outlast", "folder", LOCATION)
STAMP: Final = ".sources"  # scripts/site.py: the sources of the site
SECTIONS: Final = (".", "concepts", "guides", "reference")
"""Folders with pages for readers; records of decisions are for those who change Outlast."""


def own_docs(folder: Path = FOLDER) -> list[Configured]:
    """The source, if the documentation is built."""
    return [SOURCE] if (folder / STAMP).is_file() else []


def read_own_docs(known: str | None, folder: Path = FOLDER) -> Reading:
    """Every page; no documents if `known` is the current state. Blocking."""
    stamp, ours = (folder / STAMP).read_text(), version("outlast")
    if known == stamp:
        return Reading(documents=None, version=ours, etag=stamp)
    pages = [path for section in SECTIONS for path in sorted((folder / section).glob("*.md"))]
    documents = [_document(path, path.relative_to(folder).with_suffix("").as_posix()) for path in pages]
    return Reading(documents=documents, version=ours, etag=stamp)


def _document(path: Path, name: str) -> Document:
    return Document(
        url=docs_page("" if name == "README" else name),
        text=path.read_text(encoding="utf-8"),
        title=title_of(name),
        path=name,
    )

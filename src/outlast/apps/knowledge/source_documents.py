"""The result of reading a source: documents, cut into passages."""

import posixpath
from collections.abc import Iterable, Sequence
from typing import Literal

from outlast.apps.knowledge.declarations import cut_declarations
from outlast.apps.knowledge.markdown_splitter import cut_markdown
from outlast.apps.knowledge.passages import Cut
from outlast.apps.knowledge.signatures import cut_signatures, module_of
from outlast.base.records import dataclass
from outlast.kernel.library.modules import text_hash
from outlast.kernel.web.errors import NoPage
from outlast.kernel.web.pages import read_page

Language = Literal["markdown", "typescript", "python"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One text of a source. `text` is None if unchanged since its passages were stored. `title` precedes its headings,
    `path` is that of its file in a package or folder."""

    url: str
    text: str | None
    language: Language = "markdown"
    title: str = ""
    path: str = ""
    etag: str | None = None
    modified: str | None = None

    @property
    def hash(self) -> str:
        return text_hash(self.text or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The result of reading a source. `documents` is None if nothing has changed. `trouble` names parts that could not
    be read, or is empty. `etag` and `modified` are those of its own address."""

    documents: Sequence[Document] | None
    version: str = ""
    etag: str | None = None
    modified: str | None = None
    trouble: str = ""


def cut_document(document: Document, passage_chars: int) -> list[Cut]:
    """The document's passages, in order. Blocking for long texts: call it in a worker thread."""
    text = (document.text or "").replace("\x00", "")
    match document.language:
        case "typescript":
            return cut_declarations(text, document.url, passage_chars)
        case "python":
            return cut_signatures(text, document.url, module_of(document.path), passage_chars)
        case "markdown":
            return cut_markdown(text, document.url, passage_chars, document.title)


def cut_documents(documents: Iterable[Document], passage_chars: int) -> dict[str, list[Cut]]:
    """The passages of each document with a text, by address; a text that another document has too (a
    declaration that is shipped twice) is left out of the later one."""
    found: dict[str, list[Cut]] = {}
    seen: set[str] = set()
    for document in documents:
        if document.text is None:
            continue
        fresh = []
        for one in cut_document(document, passage_chars):
            if one.hash not in seen:
                seen.add(one.hash)
                fresh.append(one)
        found[document.url] = fresh
    return found


def document_of(name: str, text: str, passage_chars: int) -> tuple[Document, list[Cut]]:
    """An uploaded text with its passages; its name determines the language. Blocking for long texts."""
    lower = name.lower()
    language: Language = "markdown"
    if lower.endswith((".d.ts", ".d.mts", ".d.cts")):
        language = "typescript"
    elif lower.endswith((".pyi", ".py")):
        language = "python"
    try:
        title, text = read_file_text(name, text, "")
    except NoPage:
        title = title_of(name)
    document = Document(url=name.partition("#")[0], text=text, language=language, title=title, path=name)
    return document, cut_document(document, passage_chars)


def read_file_text(path: str, text: str, url: str) -> tuple[str, str]:
    """(title, Markdown or the text as it is) of a file at `url`. Raises `NoPage`. Blocking for long texts."""
    title = title_of(path)
    if not path.lower().endswith((".html", ".htm")):
        return title, text
    found, text = read_page(text, url)
    return found or title, text


def title_of(path: str) -> str:
    """The title of a file whose text has none."""
    name = posixpath.splitext(posixpath.basename(path))[0]
    if name.lower() in ("index", "readme") and posixpath.dirname(path):
        name = posixpath.basename(posixpath.dirname(path))
    return name.replace("-", " ").replace("_", " ")

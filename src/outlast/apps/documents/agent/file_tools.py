"""`search_files` and `read_file`: the project's files, by words and page by page."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Protocol

import orjson
from pydantic import Field

from outlast.kernel.agents.tools.base import Arguments, ToolBase
from outlast.kernel.files.search import FileAnswer
from outlast.kernel.files.shapes import FileHitAnswer, FileTextAnswer
from outlast.kernel.runs.profile import ToolContext, ToolResult

RESULTS: Final = 6
CONTENT_CHARS: Final = 4_000
READ_CHARS: Final = 20_000


class Files(Protocol):
    """Whoever knows a project's files."""

    async def search(self, project_id: str, query: str, limit: int = 5) -> FileAnswer: ...
    async def read(self, project_id: str, artifact_id: str, page: int = 1) -> FileTextAnswer: ...


class SearchFilesArguments(Arguments):
    query: str = Field(
        min_length=1, max_length=2_000, description="What you want to know, in words that a file would use."
    )


class ReadFileArguments(Arguments):
    id: str = Field(min_length=1, max_length=60, description="The file (art_…), as search_files names it.")
    page: int = Field(1, ge=1, le=100_000, description="Of a PDF.")
    after: int = Field(0, ge=0, description="Go on after so many characters of it.")


class SearchFiles(ToolBase):
    name: ClassVar[str] = "search_files"
    description: ClassVar[str] = (
        "Search the text of the project's files (PDFs, notes and other documents that people uploaded). Returns the "
        "best passages with the file's name and id."
    )
    arguments: ClassVar[type[Arguments]] = SearchFilesArguments
    repeatable: ClassVar[bool] = True

    def __init__(self, files: Files) -> None:
        self._files = files

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        asked = SearchFilesArguments.model_validate(dict(arguments))
        answer = await self._files.search(context.run.project_id, asked.query, RESULTS)
        body: dict[str, Any] = {"results": [_told(hit) for hit in answer.hits]}
        if answer.note:
            body["note"] = answer.note
        elif not answer.hits:
            body["note"] = "No file of the project says anything of it."
        return ToolResult(orjson.dumps(body, option=orjson.OPT_INDENT_2).decode())


class ReadFile(ToolBase):
    name: ClassVar[str] = "read_file"
    description: ClassVar[str] = (
        "Read a project file's text, a page of it where it has pages. Long ones come in pieces."
    )
    arguments: ClassVar[type[Arguments]] = ReadFileArguments
    repeatable: ClassVar[bool] = True

    def __init__(self, files: Files) -> None:
        self._files = files

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        asked = ReadFileArguments.model_validate(dict(arguments))
        found = await self._files.read(context.run.project_id, asked.id, asked.page)
        shown = found.text[asked.after : asked.after + READ_CHARS]
        left = len(found.text) - asked.after - len(shown)
        body: dict[str, Any] = {"file": found.artifact.name, "page": found.page, "pages": found.pages}
        body["text"] = shown
        if left > 0:
            body["more"] = f"{left} more characters: after={asked.after + len(shown)}"
        return ToolResult(orjson.dumps(body, option=orjson.OPT_INDENT_2).decode())


def _told(hit: FileHitAnswer) -> dict[str, Any]:
    told: dict[str, Any] = {"file": hit.artifact.name, "id": hit.artifact.id, "heading": hit.heading}
    if hit.page is not None:
        told["page"] = hit.page
    told["content"] = hit.text if len(hit.text) <= CONTENT_CHARS else f"{hit.text[:CONTENT_CHARS]}\n… (cut)"
    return told

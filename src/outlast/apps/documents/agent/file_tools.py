"""`search_files` and `read_file`: search the project's files, and read them page by page."""

from typing import Annotated, Any, Final

import orjson
from pydantic import Field

from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import Tool, tool
from outlast.kernel.files.search import ProjectFiles
from outlast.kernel.files.shapes import FileHitAnswer

RESULTS: Final = 6
CONTENT_CHARS: Final = 4_000
READ_CHARS: Final = 20_000


Query = Annotated[
    str, Field(min_length=1, max_length=2_000, description="What you want to know, in words that a file would use.")
]
FileId = Annotated[str, Field(min_length=1, max_length=60, description="The file (art_…), as search_files names it.")]
PageNumber = Annotated[int, Field(ge=1, le=100_000, description="Page of a PDF.")]
After = Annotated[int, Field(ge=0, description="Continue after this many characters.")]


def search_files_tool(files: ProjectFiles) -> Tool:
    """`search_files` in the project of a run."""

    @tool(repeatable=True)
    async def search_files(ctx: Context, query: Query) -> str:
        """Search the text of the project's files (PDFs, notes and other documents that people uploaded). Returns the
        best passages with the file's name and id."""
        answer = await files.search(ctx.this_run.project_id, query, RESULTS)
        body: dict[str, Any] = {"results": [_told(hit) for hit in answer.items]}
        if answer.note:
            body["note"] = answer.note
        elif not answer.items:
            body["note"] = "No file of the project matches."
        return orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()

    return search_files


def read_file_tool(files: ProjectFiles) -> Tool:
    """`read_file` of the project of a run."""

    @tool(repeatable=True)
    async def read_file(
        ctx: Context,
        id: FileId,  # noqa: A002  # the parameter name in the tool's schema
        page: PageNumber = 1,
        after: After = 0,
    ) -> str:
        """Read the text of a project file, or of one page if it has pages. Long texts come in pieces."""
        found = await files.read(ctx.this_run.project_id, id, page)
        shown = found.text[after : after + READ_CHARS]
        left = len(found.text) - after - len(shown)
        body: dict[str, Any] = {"file": found.artifact.name, "page": found.page, "pages": found.pages}
        body["text"] = shown
        if left > 0:
            body["more"] = f"{left} more characters: after={after + len(shown)}"
        return orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()

    return read_file


def _told(hit: FileHitAnswer) -> dict[str, Any]:
    told: dict[str, Any] = {"file": hit.artifact.name, "id": hit.artifact.id, "heading": hit.heading}
    if hit.page is not None:
        told["page"] = hit.page
    told["content"] = hit.text if len(hit.text) <= CONTENT_CHARS else f"{hit.text[:CONTENT_CHARS]}\n… (cut)"
    return told

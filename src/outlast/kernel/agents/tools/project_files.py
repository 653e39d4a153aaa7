"""`search_files` and `read_file`: search the project's files, and read them and the files of the thread's messages.
They need no sandbox."""

from typing import Annotated, Any, Final

import orjson
from pydantic import Field

from outlast.db.blobs.port import Blobs
from outlast.db.database import Database
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.prompt import PromptContext
from outlast.kernel.agents.prompt_tags import PromptTags
from outlast.kernel.agents.tool import Tool, tool
from outlast.kernel.apps.opened import Opening
from outlast.kernel.attachments.excerpts import read_excerpt
from outlast.kernel.attachments.read_program import Place
from outlast.kernel.files.known_files import find_file
from outlast.kernel.files.newest import newest_files
from outlast.kernel.files.search import ProjectFiles
from outlast.kernel.files.shapes import FileHitAnswer
from outlast.kernel.library.search import SEARCH

RESULTS: Final = 6
CONTENT_CHARS: Final = 4_000
READ_CHARS: Final = 20_000


Query = Annotated[
    str, Field(min_length=1, max_length=2_000, description="What you want to know, in words that a file would use.")
]
FileId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=300,
        description="Name of a file that a person attached, or name or id (art_…) of a project file.",
    ),
]
PageNumber = Annotated[int, Field(ge=1, le=100_000, description="Page of a PDF, slide of a presentation.")]
Sheet = Annotated[str, Field(max_length=200, description="Sheet of a spreadsheet; the first one if left out.")]
After = Annotated[int, Field(ge=0, le=10**15, description="Continue here, as `more` of the last answer says.")]


NEWEST: Final = """\


The newest files of the project (search_files finds passages in them, read_file reads on):
{files}"""


def file_tools(opening: Opening) -> tuple[Tool, Tool]:
    """`search_files` and `read_file` of this server."""
    files = ProjectFiles(opening.database, opening.blobs, opening.implementation(SEARCH))
    return search_files_tool(files), read_file_tool(opening.database, opening.blobs)


def with_newest_files(system: str, context: PromptContext) -> str:
    """The instructions, followed by the project's newest files as they were when the run began."""
    run = context.run
    files = newest_files(context.tx, run.project_id, run.started_at or run.created_at)
    if not files:
        return system
    listed = "\n".join(files)
    return system + NEWEST.format(files=PromptTags.around([listed]).put("files", listed))


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


def read_file_tool(db: Database, blobs: Blobs) -> Tool:
    """`read_file` of the files of a run's thread and project."""

    @tool(repeatable=True)
    async def read_file(
        ctx: Context,
        id: FileId,  # noqa: A002  # the parameter name in the tool's schema
        page: PageNumber = 1,
        sheet: Sheet = "",
        after: After = 0,
    ) -> str:
        """Read a part of a file that a person attached, or of a project file: text, CSV, pages of a PDF, rows of a
        spreadsheet, a document, the list of an archive. Long files come in parts; `more` names the arguments of the
        next one."""
        file = await db.read(find_file, ctx.this_run.thread_id, ctx.this_run.project_id, id)
        found = await read_excerpt(blobs, file.blob, file.media_type, Place(READ_CHARS, page, sheet, after))
        body: dict[str, Any] = {"file": file.name, "kind": found.about, "text": found.text}
        if found.trouble:
            body["note"] = found.trouble
        if found.more is not None:
            body["more"] = found.more
        return orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()

    return read_file


def _told(hit: FileHitAnswer) -> dict[str, Any]:
    told: dict[str, Any] = {"file": hit.artifact.name, "id": hit.artifact.id, "heading": hit.heading}
    if hit.page is not None:
        told["page"] = hit.page
    told["content"] = hit.text if len(hit.text) <= CONTENT_CHARS else f"{hit.text[:CONTENT_CHARS]}\n… (cut)"
    return told

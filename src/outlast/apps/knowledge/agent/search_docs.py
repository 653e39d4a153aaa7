"""`search_docs`: look things up in indexed documentation and in modules saved earlier, before code is written."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

import orjson
from pydantic import Field

from outlast.db.database import Database, Tx
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import Tool, tool
from outlast.kernel.agents.workspaces import find_workspace
from outlast.kernel.library.search import HitAnswer, PackageAnswer, Searcher, SearchReply
from outlast.kernel.runs.transcript import Run
from outlast.kernel.threads.tables import threads

CONTENT_CHARS: Final = 6_000  # of one hit; passages are shorter, unless they have long code
PACKAGES: Final = 50  # listed when nothing is found


Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=2_000,
        description="What you want to know, in words that the documentation would use: a question, names of functions.",
    ),
]
Package = Annotated[
    str | None, Field(max_length=300, description="Only the documentation of this package, e.g. npm:@linear/sdk.")
]


def search_docs_tool(searcher: Searcher, db: Database, results: int = 5) -> Tool:
    """`search_docs`; a call returns at most `results` hits."""

    @tool(repeatable=True)
    async def search_docs(ctx: Context, query: Query, package: Package = None) -> str:
        """Search the documentation that is indexed here, and code modules saved earlier. Returns the best passages with
        heading, content, url, package version and date (type doc), and modules with path and usage (type module).
        Call it before you write code against a library or an API."""
        run = ctx.this_run
        answer = await searcher.search(
            query,
            project_id=run.project_id,
            package=package or None,
            limit=results,
            workspace_id=await db.read(_workspace, run),
            user_id=run.started_by,
        )
        found_docs = any(hit.type == "doc" for hit in answer.items)
        packages = [] if found_docs else await searcher.packages(run.project_id)
        return told(answer, packages)

    return search_docs


def told(answer: SearchReply, packages: Sequence[PackageAnswer]) -> str:
    """An answer for the model: JSON, best hits first. `packages` are the searchable ones."""
    body: dict[str, Any] = {"results": [_result(hit) for hit in answer.items]}
    if answer.note:
        body["note"] = answer.note
    if packages or not answer.items:
        body["available_packages"] = [_name(package) for package in packages[:PACKAGES]]
    return orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()


def _result(hit: HitAnswer) -> dict[str, Any]:
    if hit.type == "module":
        module: dict[str, Any] = {"type": "module", "path": hit.heading, "usage": hit.usage, "content": hit.text}
        if not hit.verified:
            module["note"] = "The dependencies have changed since it last worked: check that its import still works."
        return module
    shown = hit.text if len(hit.text) <= CONTENT_CHARS else f"{hit.text[:CONTENT_CHARS]}\n… (cut; continue at the url)"
    where = hit.model_dump(include={"url", "package", "version", "fetched_at"})
    return {"type": "doc", "heading": hit.heading, "content": shown} | where


def _name(package: PackageAnswer) -> str:
    versions = ", ".join(package.versions)
    return f"{package.package} ({versions})" if versions else package.package


def _workspace(tx: Tx, run: Run) -> str | None:
    """The workspace with the run's files, if there is one yet."""
    workspace_id: str | None = run.workspace_id or tx.value(threads.c.workspace_id, {"id": run.thread_id})
    return workspace_id or find_workspace(tx, run.thread_id)

"""`publish_module`: a module becomes a person's own, found by all agents that work for them. A person decides about it:
the policy asks by default.
"""

from dataclasses import dataclass
from typing import Annotated, Final

import anyio.to_thread
import sqlalchemy as sa
from pydantic import Field

from outlast.apps.knowledge import modules as shelf
from outlast.apps.knowledge.modules import Module, Modules, NewModule
from outlast.apps.pages.agent.announced_modules import plain_path, wrong_with
from outlast.apps.pages.agent.code_uses import relative_imports
from outlast.apps.pages.agent.import_check import missing, try_import
from outlast.apps.pages.store import page_of_workspace
from outlast.base.errors import MalformedInput, NotFound
from outlast.db.blobs import FolderBlobs
from outlast.db.database import Database, Tx
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import Tool, tool
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.runs.tables import approvals
from outlast_sandbox.interface import Sandbox

MOST_BYTES: Final = 256_000


Path = Annotated[
    str, Field(min_length=1, max_length=300, description="The module's file, relative to the workspace.")
]
Description = Annotated[
    str, Field(max_length=2_000, description="What it does. Empty: as it was announced before.")
]
Exports = Annotated[list[str], Field(max_length=100, description="As in code_modules.", default_factory=list)]
Usage = Annotated[str, Field(max_length=2_000, description="As in code_modules.")]


@dataclass(frozen=True, slots=True)
class Publication:
    """A file that may be published: its module and where its content is stored."""

    module: NewModule
    blob: str


def publish_module_tool(workspaces: Workspaces, db: Database, modules: Modules, blobs: FolderBlobs) -> Tool:
    """`publish_module` over these workspaces and modules."""

    @tool(repeatable=True)
    async def publish_module(
        ctx: Context, *, path: Path, description: Description = "", exports: Exports, usage: Usage = ""
    ) -> str:
        """Offer a saved module to all work of this person: other pages and threads find it with search_docs and import
        it from ./library/. A person decides about it. The file must stand alone, without relative imports."""
        opened = await workspaces.open(ctx)
        known = await modules.usable(opened.workspace_id, None)
        wanted = _wanted(NewModule(path, description, tuple(exports), usage), known)
        content = await opened.sandbox.read_file(wanted.path, MOST_BYTES + 1)
        publication = await publishable(wanted, content, blobs, opened.sandbox, ctx.effect_id, ctx.attempt)
        published = await db.write(_publish, ctx, opened.workspace_id, publication, modules.dependencies)
        return (
            f"Published. Other work of whoever approved it imports it as {published.imported_path}:\n"
            f"{published.imported_usage}"
        )

    return publish_module


async def publishable(
    module: NewModule,
    content: bytes,
    blobs: FolderBlobs,
    sandbox: Sandbox | None,
    effect_id: str,
    attempt: int = 1,
) -> Publication:
    """The module with its file stored, once it is seen to stand alone and, where a sandbox is given, to be imported
    there. Raises `MalformedInput` with what is in its way, `DiskFull`. Repeatable."""
    if len(content) > MOST_BYTES:
        raise MalformedInput(
            f"The module {module.path} is longer than {MOST_BYTES:,} bytes.", path=module.path
        )
    text = content.decode("utf-8", "replace")
    leaning = relative_imports(text, module.path)
    if leaning:
        raise MalformedInput(
            f"The module {module.path} imports {', '.join(leaning[:5])}: a published module stands alone.",
            hint="Put what it needs into the same file.",
            path=module.path,
        )
    verified = False
    if sandbox is not None:
        # An id for each attempt: what one acknowledged, it may not have recorded.
        import_id = f"{effect_id}-import{attempt}"
        found = await try_import(sandbox, module.path, shelf.hash_of(text), import_id, attempt)
        lacking = missing(module.exports, found, text)
        if found.error or lacking:
            why = found.error or f"it does not export {', '.join(lacking)}"
            raise MalformedInput(f"The module {module.path} cannot be imported: {why}", path=module.path)
        verified = True
    blob = await anyio.to_thread.run_sync(blobs.put, content)
    said = NewModule(module.path, module.description, module.exports, module.usage, blob, verified)
    return Publication(said, blob)


def announced(module: Module) -> NewModule:
    """A module's row as it would be announced anew."""
    return NewModule(module.path, module.description, module.exports, module.usage, module.content_hash)


def _wanted(asked: NewModule, known: list[Module]) -> NewModule:
    path = plain_path(asked.path)
    before = next((one for one in known if one.scope == "session" and one.path == path), None)
    module = NewModule(
        path,
        asked.description.strip() or (before.description if before is not None else ""),
        asked.exports or (before.exports if before is not None else ()),
        asked.usage.strip() or (before.usage if before is not None else ""),
    )
    wrong = wrong_with(module)
    if wrong:
        raise MalformedInput(wrong, path=path)
    if not module.description:
        raise NotFound(
            f"No module {path} has been announced yet.",
            hint="Say what it does: description, exports and usage.",
            path=path,
        )
    return module


def _publish(
    tx: Tx, context: Context, workspace_id: str, publication: Publication, dependencies: str
) -> Module:
    run = context.run
    page = page_of_workspace(tx, workspace_id)
    decided = sa.select(approvals.c.decided_by).where(
        approvals.c.effect_id == context.effect_id, approvals.c.decided_by.is_not(None)
    )
    # Into the library of whoever decided: nobody puts code before the agents of somebody else.
    owner = tx.execute(decided.limit(1)).scalar() or run.started_by
    return shelf.publish(
        tx,
        publication.module,
        project_id=run.project_id,
        page_id=page.id if page is not None else None,
        user_id=owner,
        published_by=owner,
        run_id=run.id,
        blob=publication.blob,
        dependencies=dependencies,
    )

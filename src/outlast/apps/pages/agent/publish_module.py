"""`publish_module`: put a module into a person's library, where all agents that work for them find it. A person
decides: the policy asks by default.
"""

from typing import Annotated

import sqlalchemy as sa
from pydantic import Field

from outlast.apps.pages.agent.modules import plain_path, wrong_with
from outlast.apps.pages.store import page_of_workspace
from outlast.base.errors import MalformedInput, NotFound
from outlast.db.blobs.port import Blobs
from outlast.db.database import Database, Tx
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import Tool, tool
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.apps import registry
from outlast.kernel.library.module_checks import publishable
from outlast.kernel.library.modules import LIBRARY, MAX_BYTES, Module, ModuleOrigin, NewModule, UsableModules
from outlast.kernel.runs.tables import approvals

Path = Annotated[str, Field(min_length=1, max_length=300, description="The module's file, relative to the workspace.")]
Description = Annotated[
    str, Field(max_length=2_000, description="What it does. Leave it empty to keep the announced one.")
]
Exports = Annotated[list[str], Field(max_length=100, description="As in code_modules.", default_factory=list)]
Usage = Annotated[str, Field(max_length=2_000, description="As in code_modules.")]


def publish_module_tool(workspaces: Workspaces, db: Database, modules: UsableModules, blobs: Blobs) -> Tool:
    """`publish_module` over these workspaces and modules."""

    @tool(repeatable=True)
    async def publish_module(
        ctx: Context, *, path: Path, description: Description = "", exports: Exports, usage: Usage = ""
    ) -> str:
        """Publish a saved module for all work of this person: other pages and threads find it with search_docs and
        import it from ./library/. A person decides about it. The file must be self-contained, without relative
        imports."""
        opened = await workspaces.open(ctx)
        known = await modules.usable(opened.workspace_id, None)
        wanted = _wanted(NewModule(path, description, tuple(exports), usage), known)
        content = await opened.sandbox.read_file(wanted.path, MAX_BYTES + 1)
        module = await publishable(wanted, content, blobs, opened.sandbox, ctx.effect_id, ctx.attempt)
        published = await db.write(_publish, ctx, opened.workspace_id, module, modules.dependencies)
        return (
            f"Published. Other work of the person who approved it imports it as {published.imported_path}:\n"
            f"{published.imported_usage}"
        )

    return publish_module


def _wanted(asked: NewModule, known: list[Module]) -> NewModule:
    path = plain_path(asked.path)
    announced = (one for one in known if one.scope == "session" and one.path == path)
    before = next(announced, NewModule(path, "", (), ""))
    module = NewModule(
        path,
        asked.description.strip() or before.description,
        asked.exports or before.exports,
        asked.usage.strip() or before.usage,
    )
    if wrong := wrong_with(module.path):
        raise MalformedInput(wrong, path=path)
    if not module.description:
        raise NotFound(
            f"No module {path} has been announced yet.", hint="Describe it: description, exports and usage.", path=path
        )
    return module


def _publish(tx: Tx, context: Context, workspace_id: str, module: NewModule, dependencies: str) -> Module:
    run = context.this_run
    page = page_of_workspace(tx, workspace_id)
    decided = sa.select(approvals.c.decided_by).where(
        approvals.c.effect_id == context.effect_id, approvals.c.decided_by.is_not(None)
    )
    # Stored in the library of the person who decided: code of one person never reaches the agents of another.
    owner = tx.execute(decided.limit(1)).scalar() or run.started_by
    origin = ModuleOrigin(run.project_id, page.id if page is not None else None, owner, run.id)
    return registry.implementation(LIBRARY).publish(tx, module, origin, owner, dependencies)

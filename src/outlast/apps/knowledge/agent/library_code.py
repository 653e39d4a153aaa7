"""What `run_code` knows of packages and modules: a published module that the code imports is put into the
workspace first, a module that worked counts as verified, and code against a documented package gets a reminder
if the agent did not search its documentation first.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import anyio.to_thread
import sqlalchemy as sa

from outlast.base.errors import NotFound
from outlast.db.blobs.port import Blobs
from outlast.db.database import Database, Tx
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tools.run_code import Language
from outlast.kernel.agents.workspaces import OpenWorkspace
from outlast.kernel.apps import registry
from outlast.kernel.library.code_uses import filed_under, files_used, packages_used
from outlast.kernel.library.modules import LIBRARY, MAX_BYTES, Module, UsableModules
from outlast.kernel.models.turn_calls import parse_arguments
from outlast.kernel.runs.tables import effects
from outlast.kernel.runs.transcript import Run
from outlast.kernel.sandboxes.settings import DependencySettings
from outlast_sandbox.interface import EvaluationResult, Sandbox

REMINDER: Final = (
    "You wrote code against {packages} without searching its documentation in this request. Do not rely on what "
    "you remember of it: call search_docs with package {first} before you write more, and check this code against what "
    "you find."
)
FAILED: Final = (
    "This failed, and you wrote code against {packages} without searching its documentation in this request. "
    "Call search_docs with package {first}, then rewrite it."
)
GONE: Final = "The published module {path} could not be put into the workspace: its stored file is missing."


class LibraryCode:
    """The work of `run_code` before and after the code runs; see the module."""

    def __init__(
        self, dependencies: Sequence[DependencySettings], db: Database, modules: UsableModules, blobs: Blobs
    ) -> None:
        self._db, self._shelf, self._blobs = db, modules, blobs
        self._documented = [one for one in dependencies if one.docs and filed_under(one)]

    async def before(self, ctx: Context, workspace: OpenWorkspace, code: str, language: Language) -> list[str]:
        """Put the published modules that the code imports into the workspace."""
        used = await self._used(ctx, workspace, code, language)
        published = [one for one in used if one.scope == "user" and one.blob is not None]
        return [note for one in published if (note := await self._placed(workspace.sandbox, one))]

    async def after(
        self, ctx: Context, workspace: OpenWorkspace, code: str, language: Language, result: EvaluationResult
    ) -> list[str]:
        """Note which modules worked; return the reminder if it is due."""
        if result.success:
            worked = [
                one.id
                for one in await self._used(ctx, workspace, code, language)
                if not one.verified(self._shelf.dependencies)
            ]
            if worked:
                mark_verified = registry.implementation(LIBRARY).mark_verified
                await self._db.write(mark_verified, worked, self._shelf.dependencies)
        return await self._reminder(ctx.this_run, code, language, result)

    async def _used(self, ctx: Context, workspace: OpenWorkspace, code: str, language: Language) -> list[Module]:
        paths = files_used(code, language)
        if not paths:
            return []
        known = await self._shelf.usable(workspace.workspace_id, ctx.this_run.started_by)
        return [one for one in known if one.imported_path in paths]

    async def _placed(self, sandbox: Sandbox, module: Module) -> str:
        """Write a published module's file to its import path, unless it is there; returns the error, else
        empty."""
        assert module.blob is not None
        path = module.imported_path
        try:
            there = await sandbox.read_file(path, MAX_BYTES + 1)
        except NotFound:
            there = None
        if there is not None and hashlib.sha256(there).hexdigest() == module.blob:
            return ""
        try:
            content = await anyio.to_thread.run_sync(self._blobs.get, module.blob)
        except NotFound:
            return GONE.format(path=path)
        await sandbox.write_files([(path, content)])
        return ""

    async def _reminder(self, run: Run, code: str, language: Language, result: EvaluationResult) -> list[str]:
        used = packages_used(code, language, self._documented)
        if not used:
            return []
        searches = await self._db.read(searches_of, run)
        new = [name for one in used if not searched(name := filed_under(one), searches)]
        if not new:
            return []
        text = REMINDER if result.success else FAILED
        return [text.format(packages=", ".join(new), first=new[0])]


class _Search(NamedTuple):
    arguments: str | None
    result: Any


def searches_of(tx: Tx, run: Run) -> list[tuple[dict[str, Any], str]]:
    """(arguments, answer) of the searches of this run and of the runs that it continues."""
    rows = tx.rows(
        _Search,
        sa.select(effects.c.arguments, effects.c.result).where(
            effects.c.run_id == run.id, effects.c.tool == "search_docs", effects.c.status == "finished"
        ),
    )
    return [(parse_arguments(row.arguments or "") or {}, str((row.result or {}).get("content", ""))) for row in rows]


def searched(package: str, searches: Sequence[tuple[dict[str, Any], str]]) -> bool:
    """True if one of the searches asked for the package by name, or found something about it."""
    bare = _bare(package)
    for arguments, answer in searches:
        asked = arguments.get("package")
        if isinstance(asked, str) and _bare(asked) == bare:
            return True
        if any(_bare(str(hit.get("package", ""))) == bare for hit in _hits(answer)):
            return True
    return False


def _hits(answer: str) -> list[dict[str, Any]]:
    results = (parse_arguments(answer) or {}).get("results", [])
    return [hit for hit in results if isinstance(hit, dict)] if isinstance(results, list) else []


def _bare(package: str) -> str:
    name = package.strip().lower().removeprefix("npm:").removeprefix("pypi:")
    at = name.rfind("@")
    return name[:at] if at > 0 else name

"""The check before a page's run may end: what it announces is there and can be imported. What is wrong the model is
told, in the same run; so are lines that it has not been told of yet.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Final

import sqlalchemy as sa

from outlast.apps.pages.agent.outcome import Outcome, outcome_of
from outlast.base.errors import NotFound, PathRefused
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.agents.context import StageContext
from outlast.kernel.agents.hooks import StageResult
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.library.import_check import missing, try_import
from outlast.kernel.library.modules import NewModule
from outlast.kernel.runs.tables import effects
from outlast_sandbox.interface import Sandbox

MODULE_BYTES: Final = 1_000_000
NO_SANDBOX: Final = "Modules were announced, but this server has no sandbox in which their files could lie."
NOT_THERE: Final = (
    "The module {path} was announced, but there is no such file in the workspace. Write it with create_or_update_files "
    "and announce it again, or leave it out."
)

_LAST_CHECK: Final = (
    sa.select(effects.c.result)
    .where(
        effects.c.run_id == sa.bindparam("run"),
        effects.c.kind == "check",
        effects.c.status == "finished",
        ~effects.c.inherited,
    )
    .order_by(effects.c.ordinal.desc())
    .limit(1)
)


class Checker:
    """Does the check; `sandbox`: this server has sandboxes."""

    def __init__(self, db: Database, workspaces: Workspaces, *, sandbox: bool) -> None:
        self._db, self._workspaces, self._sandbox = db, workspaces, sandbox

    async def check(self, context: StageContext) -> StageResult:
        """Repeatable. A problem that was told before and is found again is not the model's to mend any more: the run
        ends with it."""
        await context.tell("check_page", "started")
        outcome = outcome_of(context.said)
        modules, problems = await self._modules(context, outcome)
        before = await self._db.read(_found_before, context.run.id)
        mendable = not problems or not set(problems) <= before
        left = [*context.untold, *problems]
        await context.tell("check_page", "failed" if left else "done", _detail(left, modules))
        facts = {
            "title": outcome.title,
            "summary": outcome.summary,
            "prose": outcome.prose,
            "modules": [asdict(one) for one in modules],
            "problems": left,
        }
        return StageResult(problems=tuple(problems), facts=facts, mendable=mendable)

    async def _modules(self, context: StageContext, outcome: Outcome) -> tuple[list[NewModule], list[str]]:
        """(those that hold what was announced of them, what is wrong with the others)."""
        if not outcome.modules:
            return [], []
        if not self._sandbox:
            return [], [NO_SANDBOX]
        opened = await self._workspaces.open(context)
        good: list[NewModule] = []
        problems: list[str] = []
        for one in outcome.modules.values():
            found = await self._looked_at(context, opened.sandbox, one)
            if isinstance(found, str):
                problems.append(found)
            else:
                good.append(found)
        return good, problems

    async def _looked_at(self, context: StageContext, sandbox: Sandbox, one: NewModule) -> NewModule | str:
        """The module with its file's hash, or what is wrong with it."""
        try:
            content = await sandbox.read_file(one.path, MODULE_BYTES)
        except (NotFound, PathRefused):
            return NOT_THERE.format(path=one.path)
        digest = hashlib.sha256(content).hexdigest()
        # An id of its own for each try: what an earlier one acknowledged, its attempt may not have recorded.
        import_id = new_id("effect")
        context.on_cancel(partial(sandbox.kill_command, import_id))
        found = await try_import(sandbox, one.path, digest, import_id, context.attempt)
        if found.error:
            return f"The module {one.path} cannot be imported:\n{found.error}"
        lacking = missing(one.exports, found, content.decode("utf-8", "replace"))
        if lacking:
            there = ", ".join(sorted(found.names)) or "nothing"
            return f"The module {one.path} was announced with {', '.join(lacking)}, but exports {there}."
        return replace(one, content_hash=digest, verified=True)


def _found_before(tx: Tx, run_id: str) -> frozenset[str]:
    result = tx.execute(_LAST_CHECK, {"run": run_id}).scalar()
    return frozenset((result or {}).get("problems", ()))


def _detail(problems: Sequence[str], modules: Sequence[NewModule]) -> str:
    if problems:
        return f"{problems[0].splitlines()[0]}" + (f" (and {len(problems) - 1} more)" if len(problems) > 1 else "")
    return f"modules: {', '.join(one.path for one in modules)}" if modules else ""

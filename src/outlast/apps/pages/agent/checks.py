"""The check before a page's run may end: announced modules exist and can be imported. Problems are reported to the
model in the same run, together with rejected lines that have not been reported yet.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Final

from outlast.apps.pages.agent.outcome import outcome_of
from outlast.apps.pages.agent.start_stages import last_result
from outlast.base.errors import NotFound, PathRefused
from outlast.base.ids import new_id
from outlast.db.database import Database
from outlast.kernel.agents.context import StageContext
from outlast.kernel.agents.hooks import StageResult
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.library.modules import MAX_ANNOUNCED_BYTES, NewModule
from outlast_sandbox.interface import Sandbox
from outlast_sandbox.module_imports import missing, try_import

NO_SANDBOX: Final = "Modules were announced, but this server has no sandbox for their files."
NOT_THERE: Final = (
    "The module {path} was announced, but its file is not in the workspace. Write it with create_or_update_files "
    "and announce it again, or leave it out."
)


async def check_page(context: StageContext, db: Database, workspaces: Workspaces, *, sandbox: bool) -> StageResult:
    """`sandbox`: this server has sandboxes. Repeatable. A problem that was reported before and occurs again is no
    longer for the model to fix: the run ends with it."""
    await context.tell("check_page", "started")
    outcome = outcome_of(context.said)
    good, problems = list[NewModule](), list[str]()
    if outcome.modules and not sandbox:
        problems.append(NO_SANDBOX)
    elif outcome.modules:
        opened = await workspaces.open(context)
        for one in outcome.modules.values():
            found = await _checked_module(context, opened.sandbox, one)
            if isinstance(found, str):
                problems.append(found)
            else:
                good.append(found)
    before = await db.read(last_result, context.this_run.id, "check")
    mendable = not problems or not set(problems) <= set(before.get("problems", ()))
    left = [*context.untold, *problems]
    await context.tell("check_page", "failed" if left else "done", _detail(left, good))
    facts = {
        "title": outcome.title,
        "summary": outcome.summary,
        "prose": outcome.prose,
        "modules": [asdict(one) for one in good],
        "problems": left,
    }
    return StageResult(problems=tuple(problems), facts=facts, mendable=mendable)


async def _checked_module(context: StageContext, sandbox: Sandbox, one: NewModule) -> NewModule | str:
    """The module with its file's hash, or a description of the problem."""
    try:
        content = await sandbox.read_file(one.path, MAX_ANNOUNCED_BYTES)
    except (NotFound, PathRefused):
        return NOT_THERE.format(path=one.path)
    digest = hashlib.sha256(content).hexdigest()
    # A separate id for each try: the attempt may not have recorded what an earlier one acknowledged.
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


def _detail(problems: Sequence[str], modules: Sequence[NewModule]) -> str:
    if problems:
        return f"{problems[0].splitlines()[0]}" + (f" (and {len(problems) - 1} more)" if len(problems) > 1 else "")
    return f"modules: {', '.join(one.path for one in modules)}" if modules else ""

"""The agent `chat` with stages that use its sandbox, for servers that are killed in the middle of them.

`prepare` writes a file there, `check` looks whether the model has written `fixed.txt`; both take a moment.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from outlast.apps.chat.agent import chat_agent
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.context import StageContext
from outlast.kernel.agents.hooks import StageResult
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.apps.opened import Opening
from outlast.kernel.runs.transcript import Run
from outlast.kernel.threads.parts import NoticePart
from outlast_sandbox.interface import Command, CommandResult

PREPARE: Final = "sleep 0.1; echo prepared >> prepared.txt"
CHECK: Final = "sleep 0.1; test -e fixed.txt"


def staged_chat(opening: Opening) -> Agent:
    """See the module. Its steps: open_sandbox, then check and preview_url."""
    stages = _Stages(opening.workspaces)
    return replace(
        chat_agent(opening), prepare=stages.prepare, check=stages.check, done_mark="<task_summary>", finish=_finish
    )


class _Stages:
    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    async def prepare(self, context: StageContext) -> StageResult:
        await context.tell("open_sandbox", "started")
        await self._run(context, PREPARE)
        await context.tell("open_sandbox", "done")
        return StageResult(facts={"prepared": True}, changed_files=True)

    async def check(self, context: StageContext) -> StageResult:
        await context.tell("check", "started")
        result = await self._run(context, CHECK)
        if result.exit_code != 0:
            await context.tell("check", "failed", "fixed.txt is missing")
            return StageResult(problems=("There is no file fixed.txt.",))
        await context.tell("check", "done")
        await context.tell("preview_url", "done", "port 3000")
        notice = NoticePart(id=new_id("part"), code="checked", text=f"Checked after {len(context.said)} turns.")
        return StageResult(parts=(notice,), facts={"checked": True})

    async def _run(self, context: StageContext, script: str) -> CommandResult:
        self._workspaces.own_command(context)
        opened = await self._workspaces.open(context)
        return await opened.sandbox.run(Command(context.effect_id, context.attempt, script, timeout_s=60))


def _finish(tx: Tx, run: Run, parts: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> None:
    assert facts == {"prepared": True, "checked": True}, facts

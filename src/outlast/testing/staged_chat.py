"""The profile `chat` with stages that use its sandbox, for servers that are killed in the middle of them.

`prepare` writes a file there, `check` looks whether the model has written `fixed.txt`; both take a moment.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from outlast.apps.chat.agent import ChatProfile
from outlast.base.events import NoticePart
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.runs.model import Run
from outlast.kernel.runs.profile import StageContext, StageResult
from outlast_sandbox.interface import Command, CommandResult

PREPARE: Final = "sleep 0.1; echo prepared >> prepared.txt"
CHECK: Final = "sleep 0.1; test -e fixed.txt"


class StagedChat(ChatProfile):
    """See the module. Its steps: open_sandbox, then check and preview_url."""

    done_mark: Final = "<task_summary>"

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._rooms: Workspaces = arguments[1]

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
        notice = NoticePart(
            id=new_id("part"), code="checked", text=f"Checked after {len(context.said)} turns."
        )
        return StageResult(parts=(notice,), facts={"checked": True})

    async def stop(self, context: StageContext) -> None:
        opened = await self._rooms.open(context)
        await opened.sandbox.kill_command(context.effect_id)

    async def forget(self, context: StageContext) -> None:
        opened = await self._rooms.open(context)
        await opened.sandbox.acknowledge(context.effect_id)

    def finish(
        self, tx: Tx, run: Run, parts: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]
    ) -> list[str]:
        assert facts == {"prepared": True, "checked": True}, facts
        return []

    async def _run(self, context: StageContext, script: str) -> CommandResult:
        opened = await self._rooms.open(context)
        return await opened.sandbox.run(Command(context.effect_id, context.attempt, script, timeout_s=60))

"""`terminal`: a shell command in the workspace, its output streamed, re-attached to after a restart."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from pydantic import Field

from outlast.base.settings import SandboxSettings
from outlast.kernel.agents.tools.base import Arguments, ToolBase
from outlast.kernel.agents.tools.limits import how_it_ended, over_a_limit
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.runs.profile import ToolContext, ToolResult
from outlast.kernel.runs.tool_calls import interrupted
from outlast_sandbox.interface import Command, CommandResult


class TerminalArguments(Arguments):
    command: str = Field(
        min_length=1, max_length=20_000, description="Shell command, run in the workspace folder."
    )
    timeout_s: float | None = Field(None, gt=0, le=3600, description="Seconds until it is stopped.")


_SHIPPED: Final = SandboxSettings()


class Terminal(ToolBase):
    name: ClassVar[str] = "terminal"
    description: ClassVar[str] = (
        "Run a shell command in the workspace of the sandbox (Linux). Returns its output and exit code."
    )
    arguments: ClassVar[type[Arguments]] = TerminalArguments
    reattaches: ClassVar[bool] = True
    changes_files: ClassVar[bool] = True

    def __init__(
        self,
        workspaces: Workspaces,
        timeout_s: float,
        output_bytes: int,
        settings: SandboxSettings = _SHIPPED,
    ) -> None:
        self._workspaces, self._timeout_s, self._output_bytes = workspaces, timeout_s, output_bytes
        self._settings = settings

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        asked = TerminalArguments.model_validate(dict(arguments))
        workspace = await self._workspaces.open(context)

        async def run(attach_only: bool) -> CommandResult:
            command = Command(
                effect_id=context.effect_id,
                attempt=context.attempt,
                script=asked.command,
                timeout_s=min(asked.timeout_s or self._timeout_s, self._timeout_s),
                output_limit_bytes=self._output_bytes,
                attach_only=attach_only,
            )
            return await workspace.sandbox.run(command, context.output)

        result = await self._workspaces.attach_or_start(workspace, context, run)
        if result is None:
            return interrupted(self.name)
        failed = result.exit_code != 0 or over_a_limit(result)
        return ToolResult(_told(result, self._settings), is_error=failed)

    async def stop(self, context: ToolContext) -> None:
        workspace = await self._workspaces.open(context)
        await workspace.sandbox.kill_command(context.effect_id)

    async def forget(self, context: ToolContext) -> None:
        workspace = await self._workspaces.open(context)
        await workspace.sandbox.acknowledge(context.effect_id)


def _told(result: CommandResult, settings: SandboxSettings) -> str:
    """What the model reads: the output, then how it ended."""
    ending = how_it_ended(result, settings)
    output = result.output.rstrip("\n")
    return f"{output}\n[{ending}]" if output else f"[no output, {ending}]"

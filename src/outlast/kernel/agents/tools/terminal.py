"""`terminal`: a shell command in the workspace, its output streamed, re-attached to after a restart."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import Tool, ToolResult, tool
from outlast.kernel.agents.tools.limits import how_it_ended, over_a_limit
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.runs.tool_calls import interrupted
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast_sandbox.interface import Command, CommandResult

CommandText = Annotated[
    str, Field(min_length=1, max_length=20_000, description="Shell command, run in the workspace folder.")
]
Timeout = Annotated[float | None, Field(gt=0, le=3600, description="Seconds until it is stopped.")]


def terminal_tool(workspaces: Workspaces, settings: SandboxSettings) -> Tool:
    """`terminal` over these workspaces."""

    @tool(reattaches=True, changes_files=True)
    async def terminal(ctx: Context, command: CommandText, timeout_s: Timeout = None) -> ToolResult:
        """Run a shell command in the workspace of the sandbox (Linux). Returns its output and exit code."""
        workspaces.own_command(ctx)
        workspace = await workspaces.open(ctx)
        limit_s = min(timeout_s or settings.command_timeout_s, settings.command_timeout_s)
        asked = Command(
            ctx.effect_id, ctx.attempt, command, timeout_s=limit_s, output_limit_bytes=settings.output_bytes
        )

        async def run(attach_only: bool) -> CommandResult:
            return await workspace.sandbox.run(replace(asked, attach_only=attach_only), ctx.show)

        result = await workspaces.attach_or_start(workspace, ctx, run)
        if result is None:
            return interrupted("terminal")
        failed = result.exit_code != 0 or over_a_limit(result)
        return ToolResult(_render_result(result, settings), is_error=failed)

    return terminal


def _render_result(result: CommandResult, settings: SandboxSettings) -> str:
    """The text for the model: the output, then the exit code or limit."""
    ending = how_it_ended(result, settings)
    output = result.output.rstrip("\n")
    return f"{output}\n[{ending}]" if output else f"[no output, {ending}]"

"""`run_code`: TypeScript or Python in a session that keeps its variables; the last expression is the result."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Final, Literal, Protocol

import orjson
from pydantic import Field

from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import Tool, ToolResult, tool
from outlast.kernel.agents.workspaces import OpenWorkspace, Workspaces
from outlast.kernel.apps.ports import Port
from outlast.kernel.runs.tool_calls import interrupted
from outlast_sandbox.interface import Evaluation, EvaluationResult

Language = Literal["typescript", "python"]
Code = Annotated[str, Field(min_length=1, max_length=200_000, description="The last expression's value is the result.")]
Purpose = Annotated[str, Field(max_length=300, description="Purpose of the code, in a few words for people.")]
Timeout = Annotated[float, Field(gt=0, le=600, description="Seconds until the session is ended.")]


class AroundCode(Protocol):
    """Hooks before and after code runs, each returning notes for the model. Repeatable."""

    async def before(self, ctx: Context, workspace: OpenWorkspace, code: str, language: Language) -> list[str]: ...
    async def after(
        self, ctx: Context, workspace: OpenWorkspace, code: str, language: Language, result: EvaluationResult
    ) -> list[str]: ...


AROUND_CODE: Final[Port[AroundCode | None]] = Port("hooks around code", None)


def run_code_tool(workspaces: Workspaces, output_bytes: int, around: AroundCode | None = None) -> Tool:
    """`run_code` over these workspaces; it returns at most `output_bytes` of the code's output."""

    @tool(reattaches=True, changes_files=True)
    async def run_code(
        ctx: Context, code: Code, description: Purpose = "", language: Language = "typescript", timeout_s: Timeout = 60
    ) -> ToolResult:
        """Run TypeScript (Deno) or Python in the sandbox. The last expression's value is the result; variables
        are kept for the next call. Returns success, result, error and stdout."""
        workspaces.own_command(ctx)
        workspace = await workspaces.open(ctx)
        asked = Evaluation(ctx.effect_id, ctx.attempt, language, code, timeout_s, output_bytes)

        async def evaluate(attach_only: bool) -> EvaluationResult:
            return await workspace.sandbox.evaluate(replace(asked, attach_only=attach_only), ctx.show)

        notes = [] if around is None else await around.before(ctx, workspace, code, language)
        result = await workspaces.attach_or_start(workspace, ctx, evaluate)
        if result is None:
            return interrupted("run_code")
        if around is not None:
            notes += await around.after(ctx, workspace, code, language, result)
        return ToolResult(_render_result(result, notes), is_error=not result.success)

    return run_code


def _render_result(result: EvaluationResult, notes: Sequence[str]) -> str:
    value = result.result if result.result is not None else result.result_text or None
    body = {"success": result.success, "result": value, "error": result.error, "stdout": result.stdout}
    if notes:
        body["note"] = " ".join(notes)
    return orjson.dumps(body, option=orjson.OPT_INDENT_2, default=str).decode()

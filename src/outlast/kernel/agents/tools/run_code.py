"""`run_code`: TypeScript or Python in a session that keeps its variables; the last expression is the result."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import orjson
from pydantic import Field

from outlast.kernel.agents.tools.base import Arguments, ToolBase
from outlast.kernel.agents.workspaces import OpenWorkspace, Workspaces
from outlast.kernel.runs.profile import ToolContext, ToolResult
from outlast.kernel.runs.tool_calls import interrupted
from outlast_sandbox.interface import Evaluation, EvaluationResult


class CodeArguments(Arguments):
    code: str = Field(
        min_length=1, max_length=200_000, description="The last expression's value is the result."
    )
    description: str = Field(
        "", max_length=300, description="What it is for, in a few words that people read."
    )
    language: Literal["typescript", "python"] = Field("typescript")
    timeout_s: float = Field(60, gt=0, le=600, description="Seconds until the session is ended.")


class RunCode(ToolBase):
    name: ClassVar[str] = "run_code"
    description: ClassVar[str] = (
        "Run TypeScript (Deno) or Python in the sandbox. The last expression's value is the result; variables "
        "stay for the next call. Returns success, result, error and stdout."
    )
    arguments: ClassVar[type[Arguments]] = CodeArguments
    reattaches: ClassVar[bool] = True
    changes_files: ClassVar[bool] = True

    def __init__(self, workspaces: Workspaces, output_bytes: int) -> None:
        self._workspaces, self._output_bytes = workspaces, output_bytes

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        asked = CodeArguments.model_validate(dict(arguments))
        workspace = await self._workspaces.open(context)

        async def evaluate(attach_only: bool) -> EvaluationResult:
            evaluation = Evaluation(
                effect_id=context.effect_id,
                attempt=context.attempt,
                language=asked.language,
                code=asked.code,
                timeout_s=asked.timeout_s,
                output_limit_bytes=self._output_bytes,
                attach_only=attach_only,
            )
            return await workspace.sandbox.evaluate(evaluation, context.output)

        notes = await self.before(context, asked, workspace)
        result = await self._workspaces.attach_or_start(workspace, context, evaluate)
        if result is None:
            return interrupted(self.name)
        notes += await self.after(context, asked, workspace, result)
        return ToolResult(_told(result, notes), is_error=not result.success)

    async def before(self, context: ToolContext, asked: CodeArguments, workspace: OpenWorkspace) -> list[str]:
        """What is done before the code runs; notes for the model. Repeatable."""
        return []

    async def after(
        self, context: ToolContext, asked: CodeArguments, workspace: OpenWorkspace, result: EvaluationResult
    ) -> list[str]:
        """What is done after it has run; notes for the model. Repeatable."""
        return []

    async def stop(self, context: ToolContext) -> None:
        workspace = await self._workspaces.open(context)
        await workspace.sandbox.kill_command(context.effect_id)

    async def forget(self, context: ToolContext) -> None:
        workspace = await self._workspaces.open(context)
        await workspace.sandbox.acknowledge(context.effect_id)


def _told(result: EvaluationResult, notes: Sequence[str]) -> str:
    value = result.result if result.result is not None else result.result_text or None
    body = {"success": result.success, "result": value, "error": result.error, "stdout": result.stdout}
    if notes:
        body["note"] = " ".join(notes)
    return orjson.dumps(body, option=orjson.OPT_INDENT_2, default=str).decode()

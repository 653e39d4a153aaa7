"""A profile whose tools are plain functions, for testing runs without a sandbox."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from outlast.base.errors import ArgumentsInvalid
from outlast.core.models.protocol import ToolSpec
from outlast.core.runs.history import exchanges_before
from outlast.core.runs.model import Run
from outlast.core.runs.profile import Prompt, Tool, ToolContext, ToolResult
from outlast.db.database import Tx

Body = Callable[[ToolContext, Mapping[str, Any]], Awaitable[str | ToolResult]]


@dataclass(slots=True)
class FakeTool:
    """Calls `body`; keeps every call's effect id and attempt in `calls`, and what was stopped and forgotten."""

    name: str
    body: Body | None = None
    repeatable: bool = True
    asks_person: bool = False
    calls: list[tuple[str, int]] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)

    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, "A tool for tests.", {"type": "object"})

    def check(self, arguments: Mapping[str, Any]) -> None:
        if "bad" in arguments:
            raise ArgumentsInvalid(f"The arguments of {self.name} are not valid: bad.", field="bad")

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        self.calls.append((context.effect_id, context.attempt))
        result = await self.body(context, arguments) if self.body is not None else f"{self.name} did it"
        return result if isinstance(result, ToolResult) else ToolResult(result)

    async def stop(self, context: ToolContext) -> None:
        self.stopped.append(context.effect_id)

    async def forget(self, context: ToolContext) -> None:
        self.forgotten.append(context.effect_id)


class FakeProfile:
    """The profile `chat` with the given tools; its prompt holds the texts of the thread."""

    name = "chat"

    def __init__(self, *tools: Tool) -> None:
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self.problems: list[str] = []

    def prompt(self, tx: Tx, run: Run) -> Prompt:
        texts = [
            part.get("text", "") for exchange in exchanges_before(tx, run, 20) for part in exchange.asked
        ]
        return Prompt("\n".join(texts), ())

    def finish(
        self, tx: Tx, run: Run, parts: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]
    ) -> list[str]:
        return self.problems

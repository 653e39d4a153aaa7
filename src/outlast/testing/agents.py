"""Agents whose tools are plain functions, for testing runs without a sandbox."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any

from outlast.base.errors import ArgumentsInvalid
from outlast.db.database import Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.context import Context, StageContext
from outlast.kernel.agents.hooks import Finished, StageResult
from outlast.kernel.agents.prompt import Conversation, PromptContext
from outlast.kernel.agents.tool import Tool, ToolResult
from outlast.kernel.models.protocol import ToolSpec
from outlast.kernel.runs.history import exchanges_before
from outlast.kernel.runs.transcript import Run

Body = Callable[[Context, Mapping[str, Any]], Awaitable[str | ToolResult]]
StageBody = Callable[[StageContext], Awaitable[StageResult]]


class FakeTool(Tool):
    """Accepts any arguments but `bad` and calls `body`; records every call's effect id and attempt in `calls`, and the
    effects that were stopped and forgotten."""

    def __init__(
        self, name: str, body: Body | None = None, *, repeatable: bool = True, asks_person: bool = False
    ) -> None:
        self.name, self.ask, self.body = name, "", body
        self.repeatable, self.asks_person = repeatable, asks_person
        self.reattaches = self.changes_files = self.takes_context = False
        self._code = None
        self.spec = ToolSpec(name, "A tool for tests.", {"type": "object"})
        self.calls: list[tuple[str, int]] = []
        self.stopped: list[str] = []
        self.forgotten: list[str] = []

    def check(self, arguments: Mapping[str, Any]) -> None:
        if "bad" in arguments:
            raise ArgumentsInvalid(f"The arguments of {self.name} are not valid: bad.", field="bad")

    async def run(self, context: Context, arguments: Mapping[str, Any]) -> ToolResult:
        self.calls.append((context.effect_id, context.attempt))
        note_clean_up(context, self.stopped, self.forgotten)
        result = await self.body(context, arguments) if self.body is not None else f"{self.name} did it"
        return result if isinstance(result, ToolResult) else ToolResult(result)


def note_clean_up(context: Context | StageContext, stopped: list[str], forgotten: list[str]) -> None:
    """Add the effect's id to these lists when it is stopped and when its result is recorded."""

    async def stop() -> None:
        stopped.append(context.effect_id)

    async def forget() -> None:
        forgotten.append(context.effect_id)

    context.on_cancel(stop)
    context.on_recorded(forget)


async def _not_lost(_workspace_id: str, _sandbox_id: str) -> None:
    return None


class FakeJournal:
    """A journal that keeps nothing: each step is done whenever it is asked for."""

    async def step(self, _name: str, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
        value = function(*args, **named)
        return await value if isawaitable(value) else value


def make_context(run: Run, effect_id: str = "eff_1", **more: Any) -> Context:
    """The context of a tool for the first call of an effect of this run; `more` replaces fields."""
    fields: dict[str, Any] = {
        "attempt": run.attempt,
        "lost": _not_lost,
        "reattach": False,
        "started_at": run.created_at,
        "output": lambda _text: None,
        "journal": FakeJournal(),
        "resources": None,  # a test of none of them
    }
    return Context(this_run=run, effect_id=effect_id, **{**fields, **more})


class FakeAgent:
    """An agent with the given tools, `agent`; its system text contains the texts of the thread. `finish` reports
    `problems`."""

    def __init__(self, *tools: Tool, name: str = "chat", **hooks: Any) -> None:
        self.problems: list[str] = []
        self.agent = Agent(
            name,
            instructions=_texts_of_thread,
            tools=tools,
            context=lambda _context: Conversation(()),
            finish=self.finish,
            **hooks,
        )

    def finish(self, tx: Tx, run: Run, parts: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> Finished:
        return Finished(self.problems)


def _texts_of_thread(context: PromptContext) -> str:
    exchanges = exchanges_before(context.tx, context.run, 20)
    return "\n".join(part.get("text", "") for exchange in exchanges for part in exchange.asked)


class FakeStagedAgent(FakeAgent):
    """A `FakeAgent` with stages. `preparing` and `checking` are their bodies (None runs one workflow step each);
    `stages` records (kind, effect id, attempt) of every call, `stopped` and `forgotten` the effect ids, `facts` the
    argument of `finish`."""

    def __init__(
        self, *tools: Tool, preparing: StageBody | None = None, checking: StageBody | None = None, **more: Any
    ) -> None:
        super().__init__(*tools, prepare=self.prepare, check=self.check, done_mark="<task_summary>", **more)
        self.preparing, self.checking = preparing, checking
        self.stages: list[tuple[str, str, int]] = []
        self.stopped: list[str] = []
        self.forgotten: list[str] = []
        self.facts: dict[str, Any] | None = None
        self.failure: Exception | None = None  # what `finish` raises

    async def prepare(self, context: StageContext) -> StageResult:
        return await self._stage("prepare", context, self.preparing, "load_screen", {"prepared": True})

    async def check(self, context: StageContext) -> StageResult:
        return await self._stage("check", context, self.checking, "check", {"checked": len(context.said)})

    async def _stage(
        self, kind: str, context: StageContext, body: StageBody | None, step: str, facts: dict[str, Any]
    ) -> StageResult:
        self.stages.append((kind, context.effect_id, context.attempt))
        note_clean_up(context, self.stopped, self.forgotten)
        if body is not None:
            return await body(context)
        await context.tell(step, "started")
        await context.tell(step, "done")
        return StageResult(facts=facts)

    def finish(self, tx: Tx, run: Run, parts: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> Finished:
        self.facts = dict(facts)
        if self.failure is not None:
            raise self.failure
        return Finished(self.problems)

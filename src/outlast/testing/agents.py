"""Agents whose tools are plain functions, for testing runs without a sandbox."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from outlast.apps.pages.shapes import PageHtml, PagePatched
from outlast.base.errors import ArgumentsInvalid
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.context import Context, StageContext
from outlast.kernel.agents.hooks import Finished, LinesTaken, StageResult
from outlast.kernel.agents.prompt import Conversation, PromptContext
from outlast.kernel.agents.tool import Tool, ToolResult
from outlast.kernel.models.protocol import ToolSpec
from outlast.kernel.runs.history import exchanges_before
from outlast.kernel.runs.model import Run
from outlast.kernel.threads.parts import PagePart, Part

Body = Callable[[Context, Mapping[str, Any]], Awaitable[str | ToolResult]]
StageBody = Callable[[StageContext], Awaitable[StageResult]]


class FakeTool(Tool):
    """Takes any arguments but `bad` and calls `body`; keeps every call's effect id and attempt in `calls`, and what was
    stopped and forgotten."""

    def __init__(
        self, name: str, body: Body | None = None, *, repeatable: bool = True, asks_person: bool = False
    ) -> None:
        self.name, self.ask, self.body = name, "", body
        self.repeatable, self.asks_person = repeatable, asks_person
        self.reattaches = self.changes_files = False
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
    """Have the effect's id added to these lists when it is stopped and when its result is recorded."""

    async def stop() -> None:
        stopped.append(context.effect_id)

    async def forget() -> None:
        forgotten.append(context.effect_id)

    context.on_cancel(stop)
    context.on_recorded(forget)


async def _not_lost(_workspace_id: str, _sandbox_id: str) -> None:
    return None


def make_context(run: Run, effect_id: str = "eff_1", **more: Any) -> Context:
    """What a tool is given for the first call of an effect of this run; `more` takes the place of fields."""
    fields: dict[str, Any] = {
        "attempt": run.attempt,
        "lost": _not_lost,
        "reattach": False,
        "started_at": run.created_at,
        "output": lambda _text: None,
    }
    return Context(run=run, effect_id=effect_id, **{**fields, **more})


class FakeAgent:
    """An agent with the given tools, `agent`; its system text holds the texts of the thread. What `finish` finds wrong
    is `problems`."""

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
    """A `FakeAgent` with stages. `preparing` and `checking` are what they do (None: a step of the workflow each);
    `stages` keeps (kind, effect id, attempt) of every call, `stopped` and `forgotten` the ids of those, `facts` what
    `finish` got."""

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


class FakeLines:
    """Lines of a model: `+word` puts a word on a list, `!…` is a problem, `?` makes the taking itself fail; anything
    else is prose. The list is `words`, as (run, step, word); each transaction's lines are in `takes`, those prepared
    before in `prepared` with how many takes there had been. It keeps no table: what a transaction that failed had taken
    stays in memory."""

    def __init__(self) -> None:
        self.words: list[tuple[str, int, str]] = []
        self.takes: list[list[str]] = []
        self.prepared: list[tuple[int, list[str]]] = []
        self.ends: list[str] = []

    def prepare(self, lines: Sequence[str]) -> None:
        self.prepared.append((len(self.takes), list(lines)))

    def take(self, tx: Tx, run: Run, step: int, lines: Sequence[str]) -> LinesTaken:
        self.takes.append(list(lines))
        if "?" in lines:
            raise RuntimeError("a line that cannot be taken")
        base = len(self.words)
        words = [line[1:] for line in lines if line.startswith("+")]
        self.words += [(run.id, step, word) for word in words]
        prose = [line for line in lines if not line.startswith(("+", "!"))]
        patches = [{"op": "text", "at": "page", "text": word} for word in words]
        versions = {"base_version": base, "version": base + len(words)}
        patched = {"page_id": "page_1", **versions, "patches": patches, "step": step}
        return LinesTaken(
            events=[("page.patch", PagePatched.model_validate(patched))] if words else [],
            prose="".join(f"{line}\n" for line in prose),
            problems=tuple(f"Not a word: {line}" for line in lines if line.startswith("!")),
            counts={"patches": len(words)} if words else {},
        )

    def reset(self, tx: Tx, run: Run, step: int) -> Sequence[tuple[str, Any]]:
        kept = [word for word in self.words if word[:2] != (run.id, step)]
        if kept == self.words:
            return []
        self.words[:] = kept
        html = PageHtml(page_id="page_1", version=len(kept), html="", reason="reset", step=step)
        return [("page.html", html)]

    def part(self, tx: Tx, run: Run, step: int, counts: Mapping[str, int]) -> Part | None:
        version, patches = len(self.words), counts.get("patches", 0)
        if not patches:
            return None
        return PagePart(
            id=new_id("part"), page_id="page_1", base_version=version - patches, version=version, patches=patches
        )

    def end(self, tx: Tx, run: Run, status: str) -> Sequence[tuple[str, Any]]:
        self.ends.append(status)
        return []


class FakeLinedAgent(FakeAgent):
    """A `FakeAgent` whose model writes `FakeLines`, and what they keep."""

    def __init__(self, *tools: Tool, **more: Any) -> None:
        lines = FakeLines()
        super().__init__(*tools, lines=lines, **more)
        self.words, self.takes, self.prepared, self.ends = (lines.words, lines.takes, lines.prepared, lines.ends)


class FakeStagedLinedAgent(FakeLinedAgent, FakeStagedAgent):
    """Both: stages, and lines."""

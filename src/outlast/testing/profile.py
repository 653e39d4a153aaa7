"""A profile whose tools are plain functions, for testing runs without a sandbox."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from outlast.base.errors import ArgumentsInvalid
from outlast.base.events import PageHtml, PagePart, PagePatched, Part
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.models.protocol import ToolSpec
from outlast.kernel.runs.history import exchanges_before
from outlast.kernel.runs.model import Run
from outlast.kernel.runs.profile import (
    LinesTaken,
    Prompt,
    StageContext,
    StageResult,
    Tool,
    ToolContext,
    ToolResult,
)

Body = Callable[[ToolContext, Mapping[str, Any]], Awaitable[str | ToolResult]]
StageBody = Callable[[StageContext], Awaitable[StageResult]]


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


class FakeStagedProfile(FakeProfile):
    """A `FakeProfile` with stages. `preparing` and `checking` are what they do (None: a step of the workflow each);
    `stages` keeps (kind, effect id, attempt) of every call, `stopped` and `forgotten` the ids of those, `facts` what
    `finish` got."""

    done_mark = "<task_summary>"

    def __init__(
        self, *tools: Tool, preparing: StageBody | None = None, checking: StageBody | None = None
    ) -> None:
        super().__init__(*tools)
        self.preparing, self.checking = preparing, checking
        self.stages: list[tuple[str, str, int]] = []
        self.stopped: list[str] = []
        self.forgotten: list[str] = []
        self.facts: dict[str, Any] | None = None
        self.failure: Exception | None = None  # what `finish` raises

    async def prepare(self, context: StageContext) -> StageResult:
        self.stages.append(("prepare", context.effect_id, context.attempt))
        if self.preparing is not None:
            return await self.preparing(context)
        await context.tell("load_screen", "started")
        await context.tell("load_screen", "done")
        return StageResult(facts={"prepared": True})

    async def check(self, context: StageContext) -> StageResult:
        self.stages.append(("check", context.effect_id, context.attempt))
        if self.checking is not None:
            return await self.checking(context)
        await context.tell("check", "started")
        await context.tell("check", "done")
        return StageResult(facts={"checked": len(context.said)})

    async def stop(self, context: StageContext) -> None:
        self.stopped.append(context.effect_id)

    async def forget(self, context: StageContext) -> None:
        self.forgotten.append(context.effect_id)

    def finish(
        self, tx: Tx, run: Run, parts: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]
    ) -> list[str]:
        self.facts = dict(facts)
        if self.failure is not None:
            raise self.failure
        return self.problems


class FakeLinedProfile(FakeProfile):
    """A `FakeProfile` whose model writes lines: `+word` puts a word on a list, `!…` is a problem, `?` makes the
    taking itself fail; anything else is prose. The list is `words`, as (run, step, word); each transaction's lines
    stand in `takes`, those prepared before in `prepared`. It keeps no table: what a transaction that failed had taken
    stays in memory."""

    def __init__(self, *tools: Tool, **stages: Any) -> None:
        super().__init__(*tools, **stages)
        self.words: list[tuple[str, int, str]] = []
        self.takes: list[list[str]] = []
        self.prepared: list[tuple[int, list[str]]] = []  # with how many takes there had been
        self.ends: list[str] = []

    def prepare_lines(self, lines: Sequence[str]) -> None:
        self.prepared.append((len(self.takes), list(lines)))

    def take_lines(self, tx: Tx, run: Run, step: int, lines: Sequence[str]) -> LinesTaken:
        self.takes.append(list(lines))
        if "?" in lines:
            raise RuntimeError("a line that nobody can take")
        base = len(self.words)
        words = [line[1:] for line in lines if line.startswith("+")]
        self.words += [(run.id, step, word) for word in words]
        prose = [line for line in lines if not line.startswith(("+", "!"))]
        patches = [{"op": "text", "at": "page", "text": word} for word in words]
        patched = {"page_id": "page_1", "base_version": base, "version": base + len(words)}
        return LinesTaken(
            events=[("page.patch", PagePatched.model_validate({**patched, "patches": patches, "step": step}))]
            if words
            else [],
            prose="".join(f"{line}\n" for line in prose),
            problems=tuple(f"Not a word: {line}" for line in lines if line.startswith("!")),
            counts={"patches": len(words)} if words else {},
        )

    def reset_step(self, tx: Tx, run: Run, step: int) -> Sequence[tuple[str, Any]]:
        kept = [word for word in self.words if word[:2] != (run.id, step)]
        if kept == self.words:
            return []
        self.words = kept
        html = PageHtml(page_id="page_1", version=len(kept), html="", reason="reset", step=step)
        return [("page.html", html)]

    def step_part(self, tx: Tx, run: Run, step: int, counts: Mapping[str, int]) -> Part | None:
        version, patches = len(self.words), counts.get("patches", 0)
        if not patches:
            return None
        return PagePart(
            id=new_id("part"),
            page_id="page_1",
            base_version=version - patches,
            version=version,
            patches=patches,
        )

    def run_ended(self, tx: Tx, run: Run, status: str) -> Sequence[tuple[str, Any]]:
        self.ends.append(status)
        return []


class FakeStagedLinedProfile(FakeLinedProfile, FakeStagedProfile):
    """Both: stages, and lines."""

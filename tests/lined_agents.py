"""Agents whose model writes lines, and what keeps them: their events are those of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast.apps.pages.shapes import PageHtml, PagePatched
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.agents.hooks import LinesTaken
from outlast.kernel.agents.tool import Tool
from outlast.kernel.runs.transcript import Run
from outlast.kernel.threads.parts import PagePart, Part
from outlast.testing.agents import FakeAgent, FakeStagedAgent


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

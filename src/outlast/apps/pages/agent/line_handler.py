"""Handle the lines of a page's agent: each is parsed, and the pages app applies it to the page."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from outlast.apps.pages import versions
from outlast.apps.pages.agent.finisher import stats_of
from outlast.apps.pages.agent.modules import wrong_with
from outlast.apps.pages.clean_cache import MIN_CHARS
from outlast.apps.pages.line_parser import (
    FullLine,
    ModulesLine,
    PatchesLine,
    ProblemLine,
    ProseLine,
    StatsLine,
    SummaryLine,
    read_line,
)
from outlast.apps.pages.store import page_of_thread, touch
from outlast.apps.pages.versions import Author, Rules, Taken
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.agents.hooks import LinesTaken
from outlast.kernel.runs import timers
from outlast.kernel.runs.transcript import Run
from outlast.kernel.threads.parts import PagePart

GONE: Final = "The page was deleted, so this line changed nothing."


class PageLines:
    """The lines of the agent `page`. `dormant_after_s`: the time after a run until the page is dormant and its memory
    is freed."""

    def __init__(self, rules: Rules, dormant_after_s: float) -> None:
        self._rules, self._dormant_after = rules, timedelta(seconds=dormant_after_s)

    def prepare(self, lines: Sequence[str]) -> None:
        """Sanitise the whole pages among the lines. Blocking."""
        for line in lines:
            said = read_line(line) if len(line) >= MIN_CHARS else None
            if isinstance(said, FullLine):
                self._rules.clean.prepare(said.html, self._rules.html_bytes)

    def take(self, tx: Tx, run: Run, step: int, lines: Sequence[str]) -> LinesTaken:
        """Handle complete lines, in order. Stats, modules and summaries are only counted here: they are read again from
        the transcript when the run ends (`outcome.py`), so that a repeated step leaves nothing of them behind."""
        page = page_of_thread(tx, run.thread_id)
        if page is None:
            return LinesTaken(problems=(GONE,))
        author = Author(run.id, step, run.started_by)
        events: list[tuple[str, Any]] = []
        problems: list[str] = []
        prose: list[str] = []
        counts = Counter[str]()

        def note(taken: Taken) -> None:
            events.extend(taken.events)
            problems.extend(taken.problems)
            counts.update(patches=taken.patches, replaced=taken.replaced, refused=taken.refused)

        for line in lines:
            match read_line(line):
                case PatchesLine(patches, wrong):
                    problems += wrong
                    counts["refused"] += len(wrong)
                    if patches:
                        note(versions.take_patches(tx, page.id, self._rules, patches, author))
                case FullLine(html, _):
                    counts["whole"] += 1
                    note(versions.take_full(tx, page.id, self._rules, html, author))
                case ModulesLine(modules, wrong):
                    found = [*wrong, *(text for one in modules if (text := wrong_with(one.path)))]
                    problems += found
                    counts.update(modules=len(modules), refused=len(found))
                case ProblemLine(text):
                    problems.append(text)
                    counts["refused"] += 1
                case ProseLine(text):
                    prose.append(text)
                case StatsLine() | SummaryLine():
                    counts["notes"] += 1
                case None:
                    prose += [""] if not line.strip() else []  # keeps paragraphs apart
        return LinesTaken(tuple(events), "".join(f"{line}\n" for line in prose), tuple(problems), counts)

    def reset(self, tx: Tx, run: Run, step: int) -> Sequence[tuple[str, Any]]:
        page = page_of_thread(tx, run.thread_id)
        return () if page is None else versions.reset_step(tx, page.id, run.id, step)

    def part(self, tx: Tx, run: Run, step: int, counts: Mapping[str, int]) -> PagePart | None:
        page = page_of_thread(tx, run.thread_id)
        if page is None:
            return None
        base, last = versions.span_of(tx, page.id, run.id, step)
        if last is None and not counts.get("refused"):
            return None
        return PagePart(
            id=new_id("part"),
            step=step,
            page_id=page.id,
            base_version=base or 0,
            version=last or 0,
            patches=counts.get("patches", 0),
            whole=counts.get("replaced", 0) > 0 or counts.get("whole", 0) > 0,
            refused=counts.get("refused", 0),
        )

    def end(self, tx: Tx, run: Run, status: str) -> Sequence[tuple[str, Any]]:
        page = page_of_thread(tx, run.thread_id)
        if page is None:
            return ()
        touch(tx, run.thread_id)
        timers.set_timer(tx, "page_dormant", page.id, tx.now + self._dormant_after)
        return (("page.stats", stats_of(tx, run, page)),)

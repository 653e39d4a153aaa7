"""The results of a page's run: title, modules, memory and problems, written in the run's last transaction; and the
figures that are published at the end of any run."""

import re
from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any, Final

from outlast.apps.pages import store as pages
from outlast.apps.pages import versions
from outlast.apps.pages.actions import UNTITLED
from outlast.apps.pages.agent.outcome import outcome_of
from outlast.apps.pages.agent.recent_changes import done_words
from outlast.apps.pages.rows import PageRow
from outlast.db.database import Tx
from outlast.kernel.agents.hooks import Finished
from outlast.kernel.apps import registry
from outlast.kernel.library.modules import LIBRARY, ModuleOrigin, NewModule
from outlast.kernel.library.shapes import ModulesSaved
from outlast.kernel.library.summary_line import ARROW, asked_text, summary_line
from outlast.kernel.runs.shapes import PageStats
from outlast.kernel.runs.store import transcript_of, usage_of
from outlast.kernel.runs.transcript import Run, text_of
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.search_index import set_title
from outlast.kernel.threads.tables import messages, threads

TITLE_CHARS: Final = 60
_HEADING: Final = re.compile(r"<h1\b[^<>]*+>", re.IGNORECASE)
_HEADING_ENDS: Final = re.compile(r"</h1>", re.IGNORECASE)
_HEADING_CHARS: Final = 20_000  # of the first heading's HTML
_TAG: Final = re.compile(r"<[^<>]*+>")
_ELEMENT: Final = re.compile(r"<[a-zA-Z]")


def save_page(
    tx: Tx, run: Run, parts: Sequence[Mapping[str, Any]], facts: Mapping[str, Any], *, dependencies: str
) -> Finished:
    """Write the title from the run, unless a person has named the page; its modules; the run's summary, also in
    the page's history. The end of the run announces the page."""
    found = pages.page_of_thread(tx, run.thread_id)
    if found is None:  # deleted meanwhile, with its thread
        return Finished()
    page = pages.hold(tx, found.id)
    problems = list(facts.get("problems", ()))
    pages.update(tx, page.id, **_titled(tx, run, page, str(facts.get("title", ""))), problems=problems)
    announced = [NewModule(**one) for one in facts.get("modules", ())]
    origin = ModuleOrigin(run.project_id, page.id, run.started_by, run.id)
    saved = registry.implementation(LIBRARY).save(tx, announced, origin, page.workspace_id, dependencies)
    summary = _summary(tx, run, parts, facts)
    versions.describe(tx, page.id, run.id, summary.partition(ARROW)[2] or summary)
    if not saved:
        return Finished(summary=summary)
    told = [one.data(dependencies) for one in saved]
    event = ModulesSaved(run_id=run.id, workspace_id=page.workspace_id, modules=told)
    return Finished(events=(("modules.saved", event),), summary=summary)


def stats_of(tx: Tx, run: Run, page: PageRow) -> PageStats:
    """The figures of a run that ends: its changes to the page, and the cached share of its prompts."""
    journal = transcript_of(tx, run.id, frozenset())
    turns = [effect for effect in journal.effects if effect.kind == "model" and not effect.inherited]
    counts: dict[str, int] = {}
    for turn in turns:
        for name, value in (turn.result or {}).get("counts", {}).items():
            counts[name] = counts.get(name, 0) + value
    usage = usage_of(tx, run.id)
    said = [text_of(turn) for turn in turns if (turn.result or {}).get("pieces")]
    return PageStats(
        page_id=page.id,
        version=page.version,
        run_id=run.id,
        patches=counts.get("patches", 0),
        replaced=counts.get("replaced", 0),
        refused=counts.get("refused", 0),
        elements=len(_ELEMENT.findall(page.html)),
        html_bytes=len(page.html.encode()),
        cached_share=usage.cached_share,
        told=dict(outcome_of(said).stats),
        **usage.model_dump(include={"input_tokens", "output_tokens", "cached_tokens"}),
    )


def _titled(tx: Tx, run: Run, page: PageRow, said: str) -> dict[str, Any]:
    """The agent's title, else the page's first heading if it has no title yet; a person's title stays. The thread gets
    the same title."""
    title = said[:TITLE_CHARS] if said else heading_of(page.html) if page.title == UNTITLED else ""
    if not title or page.named or title == page.title:
        return {}
    thread = tx.find(ThreadRow, threads, {"id": run.thread_id})
    if thread is not None and not thread.titled:
        set_title(tx, run.thread_id, thread.project_id, title)
    return {"title": title}


def heading_of(html: str) -> str:
    """The text of the first heading; empty if there is none or it is longer than `_HEADING_CHARS`."""
    found = _HEADING.search(html)
    ends = _HEADING_ENDS.search(html, found.end(), found.end() + _HEADING_CHARS) if found is not None else None
    if found is None or ends is None:
        return ""
    words = " ".join(unescape(_TAG.sub(" ", html[found.end() : ends.start()])).split())
    return words if len(words) <= TITLE_CHARS else f"{words[: TITLE_CHARS - 1]}…"


def _summary(tx: Tx, run: Run, parts: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> str:
    """The run's own summary; if it wrote none, the request and the known changes."""
    said = str(facts.get("summary", ""))
    if ARROW in said:
        return said
    asked = asked_text(tx.value(messages.c.parts, {"id": run.message_id}) or ())
    prose = " ".join(str(facts.get("prose", "")).split())
    return summary_line(asked, said or "; ".join(one for one in (done_words(parts), prose) if one))

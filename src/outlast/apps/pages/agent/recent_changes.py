"""Recent events on a page for its agent: the last requests with their results, and changes that people undid
or restored."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.pages.agent.context import SAID_CHARS
from outlast.apps.pages.tables import page_versions
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.apps import registry
from outlast.kernel.library.memories import MEMORIES
from outlast.kernel.library.summary_line import ARROW, asked_text, quoted, summary_line
from outlast.kernel.runs.tables import runs
from outlast.kernel.runs.transcript import Run
from outlast.kernel.threads.tables import messages

MAX_RECENT: Final = 6
_BY_HAND: Final = {
    "undo": "A person undid changes: the page is as it was before them.",
    "restore": "A person restored an earlier version of the page.",
}
_CUT: Final = {"cancelled": "cancelled by a person", "error": "failed in the middle"}


@dataclass(frozen=True, slots=True)
class Lately:
    """`lines` oldest first; `run_ids` of the runs in them."""

    lines: tuple[str, ...] = ()
    run_ids: frozenset[str] = frozenset()


class _Request(NamedTuple):
    message_id: str
    asked: Any
    at: datetime
    run_id: str
    status: str
    said: Any  # the parts of its answer; or None


def lately(tx: Tx, run: Run, page_id: str, most: int = MAX_RECENT) -> Lately:
    """The last `most` events before this run's own message."""
    requests = _requests(tx, run, most)
    summaries = registry.implementation(MEMORIES).summaries_of_runs(tx, [one.run_id for one in requests])
    told = [(one.at, _line(one, summaries.get(one.run_id, ""))) for one in requests]
    if requests and (said := _said(requests[-1].said or ())):
        at, line = told[-1]
        told[-1] = at, f"{line}; you said: {quoted(said, SAID_CHARS)}"
    told += _by_hand(tx, page_id, most)
    lines = [line for _, line in sorted(told, key=lambda one: one[0])][-most:]
    return Lately(tuple(lines), frozenset(one.run_id for one in requests))


def done_words(parts: Sequence[Mapping[str, Any]]) -> str:
    """The counted changes of an answer that left no summary."""
    pages = [part for part in parts if part["type"] == "page"]
    patches = sum(part["patches"] for part in pages)
    calls = sum(part["type"] == "tool_call" and part["status"] == "done" for part in parts)
    words = [
        "rewrote the page" if any(part["whole"] for part in pages) else "",
        _count(patches, "change") if patches else "",
        _count(calls, "tool call") if calls else "",
    ]
    return ", ".join(word for word in words if word) or "changed nothing"


def _requests(tx: Tx, run: Run, most: int) -> list[_Request]:
    """The last `most` messages before the run's own whose run has ended, oldest first; of several runs of one
    message, the last."""
    own = sa.select(messages.c.position).where(messages.c.id == run.message_id).scalar_subquery()
    asked = (
        sa.select(messages.c.id, messages.c.parts, messages.c.created_at, messages.c.position)
        .where(messages.c.thread_id == run.thread_id, messages.c.role == "user", messages.c.position < own)
        .order_by(messages.c.position.desc())
        .limit(most)
        .subquery()
    )
    answers = messages.alias()
    columns = asked.c.parts.label("asked"), asked.c.created_at.label("at"), runs.c.id.label("run_id"), runs.c.status
    rows = tx.rows(
        _Request,
        sa.select(asked.c.id.label("message_id"), *columns, answers.c.parts.label("said"))
        .join(runs, (runs.c.message_id == asked.c.id) & (runs.c.leg == "ended"))
        .outerjoin(answers, answers.c.id == runs.c.answer_id)
        .order_by(asked.c.position, runs.c.created_at, runs.c.id),
    )
    return list({row.message_id: row for row in rows}.values())


def _line(request: _Request, summary: str) -> str:
    if ARROW in summary:
        return summary
    done = summary or done_words(request.said or ())
    cut = _CUT.get(request.status)
    return summary_line(asked_text(request.asked), f"{done} ({cut})" if cut else done)


def _said(parts: Sequence[Mapping[str, Any]]) -> str:
    return " ".join(part["text"] for part in parts if part["type"] == "text").strip()


class _ByHand(NamedTuple):
    kind: str
    created_at: datetime


def _by_hand(tx: Tx, page_id: str, most: int) -> list[tuple[datetime, str]]:
    rows = tx.rows(
        _ByHand,
        sa.select(page_versions.c.kind, page_versions.c.created_at)
        .where(
            page_versions.c.page_id == page_id,
            page_versions.c.run_id.is_(None),
            page_versions.c.kind.in_(sorted(_BY_HAND)),
        )
        .order_by(page_versions.c.version.desc())
        .limit(most),
    )
    return [(row.created_at, _BY_HAND[row.kind]) for row in rows]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

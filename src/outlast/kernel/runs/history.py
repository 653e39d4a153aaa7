"""The conversation before a run's own message, for its agent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.compactions.store import NEWEST
from outlast.kernel.compactions.tables import compactions
from outlast.kernel.runs.tables import effects, runs
from outlast.kernel.runs.transcript import Run
from outlast.kernel.threads.tables import messages

MAX_READ: Final = 1_000  # messages of people in one history, if no limit is given

_EARLIER = sa.and_(
    compactions.c.thread_id == messages.c.thread_id, compactions.c.to_position < messages.c.position
)  # a run that answers an old message again does not read a summary of later ones
_IN_USE = sa.select(compactions.c.id).where(_EARLIER, compactions.c.undone_at.is_(None)).order_by(*NEWEST).limit(1)
_UNDONE = sa.select(sa.func.max(compactions.c.to_position)).where(_EARLIER, compactions.c.undone_at.is_not(None))
_summary = compactions.alias("summary")
# One statement, as every turn of every run reads it.
_BEGINS = (
    sa.select(
        messages.c.position,
        _summary.c.to_position,
        _summary.c.text,
        _UNDONE.correlate(messages).scalar_subquery().label("undone_to"),
    )
    .select_from(messages.outerjoin(_summary, _summary.c.id == _IN_USE.correlate(messages).scalar_subquery()))
    .where(messages.c.id == sa.bindparam("message"))
)
_ASKED = (
    sa.select(messages.c.id, messages.c.position, messages.c.parts)
    .where(
        messages.c.thread_id == sa.bindparam("thread"),
        messages.c.role == "user",
        messages.c.position > sa.bindparam("after"),
        messages.c.position <= sa.bindparam("position"),
    )
    .order_by(messages.c.position.desc())
    .limit(sa.bindparam("most", type_=sa.Integer))
)

_TURNS = sa.select(effects.c.run_id, effects.c.step, effects.c.result).where(
    effects.c.run_id.in_(sa.bindparam("runs", expanding=True)),
    effects.c.kind == "model",
    effects.c.status == "finished",
)


Parts = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user's message (or several in a row) and the answer that counts for it; both as lists of parts. A message that
    was sent to the run while it worked begins an exchange, with what the model answered after it. `opaque`: by step,
    the provider's own record if later runs must send it back; empty after the retention time. `position` and
    `last_position`: those of the message (of the last one, if some were sent to its run) and of its last answer."""

    asked: Sequence[Mapping[str, Any]]
    answered: Sequence[Mapping[str, Any]]
    opaque: Mapping[int, dict[str, Any]] = field(default_factory=dict)
    position: int = 0
    last_position: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of the messages up to a position, which a model reads instead of them."""

    to_position: int
    text: str


@dataclass(frozen=True, slots=True)
class History:
    """The conversation up to and with a run's own message: a summary of the oldest messages, if they were compacted,
    and the exchanges after it. `left_out`: more messages are between the two than the limit. `undone`: a user undid a
    compaction of some of these messages."""

    exchanges: list[Exchange]
    summary: Summary | None = None
    left_out: bool = False
    undone: bool = False


@dataclass(frozen=True, slots=True)
class _Answer:
    parts: Sequence[Mapping[str, Any]]
    run_ids: Sequence[str] = ()  # oldest first: the last continues those before
    last_position: int = 0


_NONE: Final = _Answer(())


class _Begins(NamedTuple):
    position: int
    to_position: int | None
    text: str | None
    undone_to: int | None


class _Asked(NamedTuple):
    id: str
    position: int
    parts: Any


def exchanges_before(tx: Tx, run: Run, limit: int) -> list[Exchange]:
    """The exchanges of `history_before`."""
    return history_before(tx, run, limit).exchanges


def history_before(tx: Tx, run: Run, limit: int | None) -> History:
    """The last exchanges of the thread up to and with the run's own message, about `limit` messages, oldest first, and
    the summary of those before. Without a limit (None), and after an undone compaction: at most `MAX_READ` exchanges.

    The last exchange is the run's own message, without an answer. Answers follow the message they answer, even if a
    later message was queued before they were written; of several answers the newest counts, with those it continues.
    """
    begins = tx.row(_Begins, _BEGINS, {"message": run.message_id})
    if begins is None:
        return History([])
    summary = None if begins.to_position is None else Summary(begins.to_position, begins.text or "")
    after = 0 if summary is None else summary.to_position
    undone = begins.undone_to is not None and begins.undone_to > after
    most = MAX_READ if undone or limit is None else max(limit, 1) + 1
    found = _exchanges(tx, run, after, begins.position, most)
    kept = found if undone or limit is None else _last_messages(found, limit)
    return History(kept, summary, len(kept) < len(found), undone)


def _exchanges(tx: Tx, run: Run, after: int, position: int, most: int) -> list[Exchange]:
    asked = tx.rows(_Asked, _ASKED, {"thread": run.thread_id, "after": after, "position": position, "most": most})
    asked.reverse()
    earlier = [row.id for row in asked if row.id != run.message_id]
    answers = _answers(tx, earlier) if earlier else {}
    opaque = _opaque_of(tx, [run_id for answer in answers.values() for run_id in answer.run_ids])
    sent = {part["message_id"] for answer in answers.values() for part in answer.parts if part["type"] == "message"}
    sent_rows = {row.id: row for row in asked if row.id in sent}
    exchanges = []
    for row in asked:
        if row.id not in sent:
            answer = answers.get(row.id, _NONE)
            by_step = {step: kept for run_id in answer.run_ids for step, kept in opaque.get(run_id, {}).items()}
            exchanges += _cut_at_messages(row, answer, by_step, sent_rows)
    return exchanges


def _cut_at_messages(
    asked: _Asked, answer: _Answer, opaque: Mapping[int, dict[str, Any]], sent: Mapping[str, _Asked]
) -> list[Exchange]:
    """The exchange, cut where the model read a message that was sent to it."""
    cut, rest = [asked], [list[Mapping[str, Any]]()]
    for part in answer.parts:
        if part["type"] != "message":
            rest[-1].append(part)
        elif part["message_id"] in sent:  # else it was deleted
            cut.append(sent[part["message_id"]])
            rest.append([])
    position = max(row.position for row in cut)
    last = max(position, answer.last_position)
    return [Exchange(row.parts, parts, opaque, position, last) for row, parts in zip(cut, rest, strict=True)]


class _Turn(NamedTuple):
    run_id: str
    step: int
    result: Any


def _opaque_of(tx: Tx, run_ids: Sequence[str]) -> dict[str, dict[int, dict[str, Any]]]:
    """Run → step → the provider's own record of the turn, if later runs must send it back."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for row in tx.rows(_Turn, _TURNS, {"runs": list(run_ids)}) if run_ids else ():
        opaque = (row.result or {}).get("opaque")
        if opaque and opaque.get("lasting"):
            found.setdefault(row.run_id, {})[row.step] = opaque
    return found


class _SavedAnswer(NamedTuple):
    reply_to: str
    position: int
    parts: Any
    run_id: str | None


class _Continued(NamedTuple):
    id: str
    parent_run_id: str | None


def _answers(tx: Tx, message_ids: Sequence[str]) -> dict[str, _Answer]:
    rows = tx.rows(
        _SavedAnswer,
        sa.select(messages.c.reply_to, messages.c.position, messages.c.parts, messages.c.run_id)
        .where(messages.c.reply_to.in_(message_ids))
        .order_by(messages.c.position),
    )
    continued = sa.select(runs.c.id, runs.c.parent_run_id).where(runs.c.mode == "continue")
    # The run that each run for these messages continues; not all of them left an answer.
    continues = dict(tx.rows(_Continued, continued.where(runs.c.message_id.in_(message_ids))))
    parts_of = {row.run_id: row.parts for row in rows if row.run_id is not None}
    newest = {row.reply_to: row.run_id for row in rows if row.run_id is not None}
    last = {row.reply_to: row.position for row in rows}
    chosen: dict[str, _Answer] = {}
    for message_id, run_id in newest.items():
        chain = [run_id]
        while (before := continues.get(chain[0])) is not None:
            chain.insert(0, before)
        parts = [part for link in chain for part in parts_of.get(link, ())]
        has_calls = any(part["type"] == "tool_call" for part in parts)
        chosen[message_id] = _Answer(parts, chain if has_calls else (), last[message_id])
    for row in rows:
        if row.run_id is None:  # the answer of a fork has no run
            chosen.setdefault(row.reply_to, _Answer(row.parts, (), row.position))
    return chosen


def _last_messages(exchanges: list[Exchange], limit: int) -> list[Exchange]:
    kept: list[Exchange] = []
    count = 0
    for exchange in reversed(exchanges):
        count += 2 if exchange.answered else 1
        if kept and count > limit:
            break
        kept.insert(0, exchange)
    return kept

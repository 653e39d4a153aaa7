"""The conversation before a run's own message, for its agent."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.compactions.store import NEWEST
from outlast.kernel.compactions.tables import compactions
from outlast.kernel.models.protocol import NOTE_MARK, TAKE_OVER_MARK
from outlast.kernel.runs.tables import effects, runs
from outlast.kernel.runs.transcript import Run
from outlast.kernel.threads.tables import messages

MAX_READ: Final = 1_000  # messages of people in one history, if no limit is given
TAKE_OVER: Final = f"{TAKE_OVER_MARK} {{by}} hands it to you, {{title}}, and says:\n{{reason}}"
TOOK_OVER: Final = f"{NOTE_MARK} {{by}} handed the conversation over to {{title}}, and said:\n{{reason}}"

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

_LATER = sa.select(messages.c.id, messages.c.position, messages.c.parts).where(
    messages.c.thread_id == sa.bindparam("thread"), messages.c.id.in_(sa.bindparam("ids", expanding=True))
)
_SAVED = (
    sa.select(messages.c.reply_to, messages.c.position, messages.c.parts, messages.c.run_id)
    .where(messages.c.reply_to.in_(sa.bindparam("messages", expanding=True)))
    .order_by(messages.c.position)
)
_MADE_AGAIN = runs.c.mode.in_(("retry", "continue"))
_again = (
    sa.select(runs.c.id, runs.c.parent_run_id, runs.c.mode)
    .where(runs.c.id.in_(sa.bindparam("runs", expanding=True)), _MADE_AGAIN)
    .cte("again", recursive=True)
)
_AGAIN = sa.select(
    _again.union(
        sa.select(runs.c.id, runs.c.parent_run_id, runs.c.mode)
        .join(_again, runs.c.id == _again.c.parent_run_id)
        .where(_MADE_AGAIN)
    )
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
    was sent to the run while it worked begins an exchange, with what the model answered after it; so does the server's
    note that another agent takes over (`handed_over`), with that agent's answer to the same message. `opaque`: by step,
    the provider's own record if later runs must send it back; empty after the retention time. `position` and
    `last_position`: those of the message (of the last one, if some were sent to its run) and of its last answer.
    `run_id`: the run of the answer, if it has all of it."""

    asked: Sequence[Mapping[str, Any]]
    answered: Sequence[Mapping[str, Any]]
    opaque: Mapping[int, dict[str, Any]] = field(default_factory=dict)
    position: int = 0
    last_position: int = 0
    handed_over: bool = False
    run_id: str | None = None


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
    run_id: str | None = None  # set if no other run has a part of it


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
    later message was queued before they were written; of several answers the newest counts, with those it continues,
    and those of agents that handed over to it. If agents handed over to the run itself, a note of that is the last.
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
    answers = _answers(tx, run, [row.id for row in asked])
    given = [answer for found in answers.values() for answer in found]
    opaque = _opaque_of(tx, [run_id for answer in given for run_id in answer.run_ids])
    sent = {part["message_id"] for answer in given for part in answer.parts if part["type"] == "message"}
    sent_rows = {row.id: row for row in asked if row.id in sent}
    if later := sent - sent_rows.keys():  # read by agents that answered the run's own message and handed over
        sent_rows |= {row.id: row for row in tx.rows(_Asked, _LATER, {"thread": run.thread_id, "ids": list(later)})}
    return [
        exchange
        for row in asked
        if row.id not in sent
        for exchange in _exchanges_of(row, answers.get(row.id, []), opaque, sent_rows, is_own=row.id == run.message_id)
    ]


def _exchanges_of(
    row: _Asked,
    answers: Sequence[_Answer],
    opaque: Mapping[str, Mapping[int, dict[str, Any]]],
    sent: Mapping[str, _Asked],
    *,
    is_own: bool,
) -> list[Exchange]:
    """The exchanges of one message: with one answer, or with those of the agents that it was handed over to. All have
    the same position, so that a compaction covers all or none."""
    begun = [row, *(_noted(row, answer.parts, is_last=False) for answer in answers[:-1])]
    if is_own and answers:
        begun.append(_noted(row, answers[-1].parts, is_last=True))
    found: list[Exchange] = []
    for number, (asked, answer) in enumerate(zip(begun, [*answers, _NONE], strict=False)):
        by_step = {step: kept for run_id in answer.run_ids for step, kept in opaque.get(run_id, {}).items()}
        is_over = number + 1 < len(begun)  # another agent goes on
        parts = _without_transfer(answer.parts, by_step) if is_over else answer.parts
        cut = _cut_at_messages(asked, replace(answer, parts=parts), by_step, sent)
        found += [replace(cut[0], handed_over=True), *cut[1:]] if number else cut
    if len(begun) == 1:
        return found
    return [replace(one, position=max(other.position for other in found)) for one in found]


def _noted(row: _Asked, parts: Parts, *, is_last: bool) -> _Asked:
    """The note that an agent takes over, in the place of the message that both answer."""
    return row._replace(parts=[{"type": "text", "text": handoff_note(parts, is_last=is_last)}])


def _without_transfer(parts: Parts, opaque: Mapping[int, dict[str, Any]]) -> Parts:
    """The parts without the call that handed over: the note tells it, and the next agent may have no such tool, or none
    at all. It stays in a step that the provider has a record of, which has the call too."""
    calls = {part["call_id"] for part in parts if part["type"] == "handoff"}
    return [
        part for part in parts if part["type"] != "tool_call" or part["call_id"] not in calls or part["step"] in opaque
    ]


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
    run_id = answer.run_id if len(cut) == 1 else None
    return [
        Exchange(row.parts, parts, opaque, position, last, run_id=run_id) for row, parts in zip(cut, rest, strict=True)
    ]


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


class _Again(NamedTuple):
    """A run that retries or continues another one."""

    id: str
    parent_run_id: str
    mode: str


class _Saved:
    """The saved answers to some messages, and the runs that they belong to."""

    def __init__(self, tx: Tx, message_ids: Sequence[str], own: str | None) -> None:
        """`own`: a run without an answer yet, which is asked for too."""
        rows = tx.rows(_SavedAnswer, _SAVED, {"messages": list(message_ids)})
        self.newest = {row.reply_to: row for row in rows}
        for row in rows:
            if row.run_id is not None:  # the answer of a fork has none
                self.newest[row.reply_to] = row
        self._by_run = {row.run_id: row for row in rows if row.run_id is not None}
        begun = [*self._by_run, *([own] if own is not None else ())]
        self._again = {row.id: row for row in (tx.rows(_Again, _AGAIN, {"runs": begun}) if begun else ())}
        handed = ((part["run_id"], row) for row in rows for part in row.parts if part["type"] == "handoff")
        self._handed = {run_id: row.run_id for run_id, row in handed if row.run_id is not None}

    def answers_to(self, run_id: str) -> list[_Answer]:
        """The answer of this run with those that it continues; before it, those of the agents that handed over."""
        found: list[_Answer] = []
        last: str | None = run_id
        while last is not None:
            chain = [last]
            while (again := self._again.get(chain[0])) is not None and again.mode == "continue":
                chain.insert(0, again.parent_run_id)
            found.insert(0, self._answer_of(chain))
            first = chain[0]
            while (again := self._again.get(first)) is not None:
                first = again.parent_run_id
            last = self._handed.get(first)
        return found

    def _answer_of(self, run_ids: list[str]) -> _Answer:
        rows = [self._by_run[run_id] for run_id in run_ids if run_id in self._by_run]  # not all of them left an answer
        parts = [part for row in rows for part in row.parts]
        has_calls = any(part["type"] == "tool_call" for part in parts)
        last = max((row.position for row in rows), default=0)
        return _Answer(parts, run_ids if has_calls else (), last, run_ids[0] if len(run_ids) == 1 else None)


def _answers(tx: Tx, run: Run, message_ids: Sequence[str]) -> dict[str, list[_Answer]]:
    """By message, the answers that count for it: one, or several if agents handed over. For the run's own message:
    those before its own answer."""
    is_first = run.mode == "start"
    asked = [one for one in message_ids if not (is_first and one == run.message_id)]
    if not asked:
        return {}
    saved = _Saved(tx, asked, None if is_first else run.id)
    chosen = {
        message_id: saved.answers_to(row.run_id) if row.run_id is not None else [_Answer(row.parts, (), row.position)]
        for message_id, row in saved.newest.items()
        if message_id != run.message_id
    }
    if not is_first:
        chosen[run.message_id] = saved.answers_to(run.id)[:-1]
    return chosen


def handoff_note(parts: Parts, *, is_last: bool) -> str:
    """The message to the model between the answer of an agent that handed over and that of the next one, which is
    still to come if `is_last`."""
    part = next(part for part in reversed(parts) if part["type"] == "handoff")
    words = TAKE_OVER if is_last else TOOK_OVER
    return words.format(by=part["by"], title=part["title"], reason=part["reason"])


def _last_messages(exchanges: list[Exchange], limit: int) -> list[Exchange]:
    kept: list[Exchange] = []
    count = 0
    for exchange in reversed(exchanges):
        count += 2 if exchange.answered else 1
        if kept and count > limit and not kept[0].handed_over:  # a note is not read without what it is about
            break
        kept.insert(0, exchange)
    return kept

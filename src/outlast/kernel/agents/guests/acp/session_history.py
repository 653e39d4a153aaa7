"""The conversation before a run, for an agent that keeps its own session."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from outlast.db.database import Tx
from outlast.kernel.compactions.prompt import summary_message
from outlast.kernel.models.protocol import TextPiece
from outlast.kernel.runs.guest_journal import place_of
from outlast.kernel.runs.history import Exchange, Summary, history_before
from outlast.kernel.runs.journal_store import values_at
from outlast.kernel.runs.transcript import Run

SESSION: Final = "session"
"""The unit that keeps the session of a run."""
MAX_CHARS: Final = 60_000
BEFORE: Final = "The conversation so far:"
NOW: Final = "The message to answer now:"


class Earlier(NamedTuple):
    """The session of the thread's newest run that has one, the texts `since` it, and the `whole` conversation."""

    session_id: str
    since: Sequence[str]
    whole: Sequence[str]


def earlier(tx: Tx, run: Run, limit: int) -> Earlier:
    """What came before the run's own message."""
    history = history_before(tx, run, limit)
    exchanges = history.exchanges[:-1]
    kept = values_at(tx, [one.run_id for one in exchanges if one.run_id is not None], place_of(SESSION, 0))
    session_id, since = "", 0
    for number, one in enumerate(exchanges, start=1):
        row = kept.get(one.run_id or "")
        value: Any = None if row is None else row.result
        found = _session_in(value, run.profile)
        if found:
            session_id, since = found, number
    summary = [] if history.summary is None else [_summary(history.summary)]
    return Earlier(session_id, _texts(exchanges[since:], []), _texts(exchanges, summary))


def _session_in(value: str | None, agent: str) -> str:
    kept = json.loads(value) if value is not None else {}
    return str(kept["session"]) if kept.get("agent") == agent else ""


def _summary(summary: Summary) -> str:
    return "".join(piece.text for piece in summary_message(summary).pieces if isinstance(piece, TextPiece))


def _texts(exchanges: Sequence[Exchange], before: Sequence[str]) -> list[str]:
    said = [(word, _text(parts)) for one in exchanges for word, parts in (("Person", one.asked), ("You", one.answered))]
    texts = [*before, *(f"{word}: {text}" for word, text in said if text)]
    whole = "\n\n".join(texts)[-MAX_CHARS:]
    return [f"{BEFORE}\n\n{whole}\n\n{NOW}"] if whole else []


def _text(parts: Sequence[Mapping[str, Any]]) -> str:
    return "\n\n".join(part["text"] for part in parts if part["type"] == "text" and part.get("text"))

"""What was said before a run's own message, whatever order it came to be in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from outlast.db.database import Database, Tx
from outlast.kernel.runs.history import exchanges_before
from outlast.kernel.runs.store import run_of
from outlast.kernel.runs.tables import runs
from outlast.kernel.threads import message_store
from tests.factories import make_project, make_run, make_thread, make_user, say, text_part


class Talk:
    """A thread in which messages and answers are written down in any order."""

    def __init__(self, tx: Tx) -> None:
        self.tx, self.actor = tx, make_user(tx)
        self.thread_id = make_thread(tx, make_project(tx, self.actor), self.actor)

    def ask(self, text: str) -> str:
        return say(self.tx, self.thread_id, self.actor, text)

    def run(self, message_id: str, answer: str | None = None, **fields: Any) -> str:
        fields = {"mode": "start", "leg": "ended", "status": "completed", **fields}
        run_id = make_run(self.tx, self.thread_id, self.actor, message_id=message_id, **fields)
        if answer is not None:
            given: dict[str, Any] = {"run_id": run_id, "reply_to": message_id}
            message_store.add_message(
                self.tx, self.thread_id, "assistant", None, "complete", [text_part(answer)], **given
            )
        return run_id

    def told(self, message_id: str, limit: int = 20) -> list[tuple[str, str]]:
        """Question and answer of each exchange that a run for this message is told."""
        run = run_of(self.tx, self.run(message_id))
        found = exchanges_before(self.tx, run, limit)
        return [(words(exchange.asked), words(exchange.answered)) for exchange in found]


def words(parts: Any) -> str:
    return " ".join(part["text"] for part in parts)


def in_order(talk: Talk) -> list[tuple[str, str]]:
    talk.run(talk.ask("one?"), "One.")
    return talk.told(talk.ask("two?"))


def queued(talk: Talk) -> list[tuple[str, str]]:
    one, two = talk.ask("one?"), talk.ask("two?")
    talk.run(one, "One.")
    return talk.told(two)


def own_is_not_the_last(talk: Talk) -> list[tuple[str, str]]:
    talk.run(talk.ask("one?"), "One.")
    two = talk.ask("two?")
    talk.run(two, "Two.")
    talk.run(talk.ask("three?"), "Three.")
    return talk.told(two)


def retried(talk: Talk) -> list[tuple[str, str]]:
    one = talk.ask("one?")
    first = talk.run(one, "Bad.")
    talk.run(one, "One.", mode="retry", parent_run_id=first)
    return talk.told(talk.ask("two?"))


def continued(talk: Talk) -> list[tuple[str, str]]:
    one = talk.ask("one?")
    first = talk.run(one, "O")
    silent = talk.run(one, None, mode="continue", parent_run_id=first)
    talk.run(one, "ne.", mode="continue", parent_run_id=silent)
    return talk.told(talk.ask("two?"))


def posted(talk: Talk) -> list[tuple[str, str]]:
    talk.ask("one?")
    return talk.told(talk.ask("two?"))


def forked(talk: Talk) -> list[tuple[str, str]]:
    one = talk.ask("one?")
    given: dict[str, Any] = {"reply_to": one}
    message_store.add_message(talk.tx, talk.thread_id, "assistant", None, "complete", [text_part("One.")], **given)
    return talk.told(talk.ask("two?"))


@pytest.mark.parametrize(
    ("play", "told"),
    [
        (in_order, [("one?", "One."), ("two?", "")]),
        (queued, [("one?", "One."), ("two?", "")]),
        (own_is_not_the_last, [("one?", "One."), ("two?", "")]),
        (retried, [("one?", "One."), ("two?", "")]),
        # A continued run that was cancelled before it said anything cut the chain: what came before it was lost.
        # The chain follows the runs now, not the messages.
        (continued, [("one?", "O ne."), ("two?", "")]),
        (posted, [("one?", ""), ("two?", "")]),
        (forked, [("one?", "One."), ("two?", "")]),
    ],
)
async def test_answers_stand_behind_what_they_answer(
    db: Database, play: Callable[[Talk], list[tuple[str, str]]], told: list[tuple[str, str]]
) -> None:
    assert await db.write(lambda tx: play(Talk(tx))) == told


async def test_only_the_last_messages_are_told_and_always_the_own(db: Database) -> None:
    def talk(tx: Tx) -> list[int]:
        it = Talk(tx)
        for n in range(6):
            it.run(it.ask(f"{n}?"), f"{n}.")
        own = it.ask("own?")
        tx.execute(sa.update(runs).values(status="completed"))
        return [len(it.told(own, limit)) for limit in (0, 1, 2, 3, 5, 100)]

    assert await db.write(talk) == [1, 1, 1, 2, 3, 7]

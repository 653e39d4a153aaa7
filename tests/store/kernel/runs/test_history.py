"""What was said before a run's own message, whatever order it came to be in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from outlast.db.database import Database, Tx
from outlast.kernel.runs import store
from outlast.kernel.runs.history import exchanges_before, history_before
from outlast.kernel.runs.store import run_of
from outlast.kernel.runs.tables import runs
from outlast.kernel.threads import message_store
from outlast.kernel.threads.tables import messages
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


def handoff(run_id: str, reason: str = "paid") -> dict[str, Any]:
    names = {"by": "Support", "agent": "billing", "title": "Billing", "reason": reason, "call_id": "c"}
    return {"type": "handoff", "id": "prt_h", "step": 1, "run_id": run_id, "text": "", **names}


def over(talk: Talk, before: str, message_id: str, answer: str | None, **fields: Any) -> str:
    """A run that another agent handed over to; its part is added to the answer before."""
    run_id = talk.run(message_id, answer, mode="handoff", parent_run_id=before, **fields)
    answered = talk.tx.value(messages.c.parts, {"run_id": before})
    talk.tx.update(messages, {"run_id": before}, parts=[*answered, handoff(run_id)])
    return run_id


TO_BILLING = "[Outlast] Support handed the conversation over to Billing, and said:\npaid"


async def test_the_answers_of_agents_that_handed_over_stand_before_that_of_the_last(db: Database) -> None:
    def talk(tx: Tx) -> None:
        it = Talk(tx)
        one = it.ask("one?")
        first = it.run(one, "A.")
        second = over(it, first, one, "B.")
        third = over(it, second, one, "C.")
        whole = [("one?", "A. "), (TO_BILLING, "B. "), (TO_BILLING, "C."), ("two?", "")]
        assert it.told(two := it.ask("two?")) == whole
        retried = it.run(one, "C2.", mode="retry", parent_run_id=third)
        assert it.told(two)[2] == (TO_BILLING, "C2.")
        it.run(one, "C3.", mode="continue", parent_run_id=retried)
        assert it.told(two)[1:3] == [(TO_BILLING, "B. "), (TO_BILLING, "C2. C3.")]
        it.run(one, "A2.", mode="retry", parent_run_id=first)
        assert it.told(two) == [("one?", "A2."), ("two?", "")]

    await db.write(talk)


@pytest.mark.parametrize("mode", ["handoff", "retry", "continue"])
async def test_a_run_that_takes_over_reads_the_answers_before_and_a_note_as_its_message(
    db: Database, mode: str
) -> None:
    def talk(tx: Tx) -> None:
        it = Talk(tx)
        it.run(it.ask("zero?"), "Zero.")
        one = it.ask("one?")
        first = it.run(one, "A.")
        run_id = over(it, first, one, None)
        if mode != "handoff":
            run_id = it.run(one, mode=mode, parent_run_id=run_id)
        exchanges = history_before(tx, run_of(tx, run_id), 2).exchanges
        assert [(words(e.asked).partition(" Support")[0], words(e.answered)) for e in exchanges] == [
            ("one?", "A. "), ("[Outlast] You take this conversation over.", ""),
        ], "the message stays with the note, whatever the limit"  # fmt: skip
        assert [e.handed_over for e in exchanges] == [False, True]
        assert len({e.position for e in exchanges}) == 1, "no compaction comes between them"

    await db.write(talk)


@pytest.mark.parametrize("has_record", [False, True])
async def test_the_next_agent_reads_no_call_of_a_tool_that_it_may_not_have_unless_the_provider_has_a_record_of_it(
    db: Database, *, has_record: bool
) -> None:
    def talk(tx: Tx) -> list[str]:
        it = Talk(tx)
        one = it.ask("one?")
        first = it.run(one, "A.")
        second = over(it, first, one, None)
        call = {
            "type": "tool_call",
            "id": "prt_c",
            "step": 1,
            "call_id": "c",
            "tool": "transfer_to_billing",
            "text": "",
        }
        other = call | {"call_id": "d", "tool": "find_order"}
        parts = [*tx.value(messages.c.parts, {"run_id": first}), call, other]
        tx.update(messages, {"run_id": first}, parts=parts)
        if has_record:
            result = {"pieces": [], "opaque": {"lasting": True}}
            store.insert_effect(tx, first, 1, 1, "model", status="finished", result=result)
        answered = exchanges_before(tx, run_of(tx, second), 20)[0].answered
        return [part["tool"] for part in answered if part["type"] == "tool_call"]

    kept = ["transfer_to_billing", "find_order"] if has_record else ["find_order"]
    assert await db.write(talk) == kept


async def test_only_the_last_messages_are_told_and_always_the_own(db: Database) -> None:
    def talk(tx: Tx) -> list[int]:
        it = Talk(tx)
        for n in range(6):
            it.run(it.ask(f"{n}?"), f"{n}.")
        own = it.ask("own?")
        tx.execute(sa.update(runs).values(status="completed"))
        return [len(it.told(own, limit)) for limit in (0, 1, 2, 3, 5, 100)]

    assert await db.write(talk) == [1, 1, 1, 2, 3, 7]

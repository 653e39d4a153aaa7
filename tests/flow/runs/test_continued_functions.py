"""A flow that failed or was cancelled and is continued: what it had done is not done again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import BaseModel

from outlast import Agent, Context, flow
from outlast.base.agent_errors import StepFailed
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.runs import journal_store
from outlast.kernel.runs.actions import cancel_run, continue_run, retry_run
from outlast.kernel.runs.approval_actions import answer_question
from outlast.kernel.runs.store import insert_effect
from outlast.kernel.runs.tables import effects, function_steps, runs
from outlast.testing.scripted_model import Call, turn
from tests.factories import Team, make_run
from tests.flow.harness import Stage
from tests.flow.runs.test_functions import playing, texts

STEPS = 10_000
SLACK = 5  # other work may share the machine
WORKER = Agent("worker", instructions="Work.", listed=False)


class Works:
    """Steps that note that they were done; some fail as often as told."""

    def __init__(self, **failures: int) -> None:
        self.done: list[str] = []
        self.failures = failures

    def do(self, name: str) -> Callable[[], str]:
        def step() -> str:
            self.done.append(name)
            if self.failures.get(name, 0):
                self.failures[name] -= 1
                raise ValueError(f"{name} failed")
            return name.upper()

        return step


async def failed(it: Stage) -> str:
    run_id = (await it.start()).run_id
    assert await it.ended(run_id) == "error"
    return run_id


async def continued(it: Stage, run_id: str) -> list[dict[str, Any]]:
    return await it.events((await continue_run(it.services, it.owner, run_id)).run_id)


async def test_a_continued_flow_repeats_the_step_that_failed_and_none_that_finished(
    db: Database, tmp_path: Path
) -> None:
    works, seen = Works(third=1), []

    @flow("chat")
    async def three(ctx: Context) -> str:
        seen.append((ctx.now(), ctx.random().random()))
        first = await ctx.step("first", works.do("first"))
        second = await ctx.step(f"second {ctx.random().randint(1, 1_000_000)}", works.do("second"))
        return f"{first} {second} {await ctx.step('third', works.do('third'))}"

    async with playing(db, tmp_path, three) as it:
        run_id = await failed(it)
        events = await continued(it, run_id)
        assert texts(events) == ["FIRST SECOND THIRD"]
        assert works.done == ["first", "second", "third", "third"]
        assert seen[0] == seen[1], "the same clock and the same random numbers"
        assert [event["event"] for event in events].count("step.started") == 1


async def test_a_flow_that_is_retried_starts_anew(db: Database, tmp_path: Path) -> None:
    works = Works(second=1)

    @flow("chat")
    async def two(ctx: Context) -> str:
        return await ctx.step("first", works.do("first")) + await ctx.step("second", works.do("second"))

    async with playing(db, tmp_path, two) as it:
        again = await retry_run(it.services, it.owner, await failed(it))
        assert texts(await it.events(again.run_id)) == ["FIRSTSECOND"]
        assert works.done == ["first", "second"] * 2


async def test_a_flow_is_continued_again_from_what_all_its_runs_have_done(db: Database, tmp_path: Path) -> None:
    works, numbers = Works(second=1, third=1), []

    @flow("chat")
    async def three(ctx: Context) -> str:
        numbers.append(ctx.random().random())
        return " ".join([await ctx.step(name, works.do(name)) for name in ("first", "second", "third")])

    async with playing(db, tmp_path, three) as it:
        again = (await continue_run(it.services, it.owner, await failed(it))).run_id
        assert await it.ended(again) == "error"
        assert texts(await continued(it, again)) == ["FIRST SECOND THIRD"]
        assert works.done == ["first", "second", "second", "third", "third"]
        assert len(set(numbers)) == 1


class Verdict(BaseModel):
    urgent: bool


async def test_an_agent_that_answered_is_not_called_again(db: Database, tmp_path: Path) -> None:
    works = Works(send=1)
    triage = Agent("triage", instructions="Sort.", output=Verdict, listed=False)

    @flow("chat")
    async def digest(ctx: Context) -> str:
        verdicts = await ctx.gather(*(ctx.run(triage, str(n), key=str(n)) for n in range(2)))
        await ctx.step("send", works.do("send"))
        return f"{sum(verdict.urgent for verdict in verdicts)} urgent"

    turns = [turn(Call("final_answer", {"urgent": True}))] * 2
    async with playing(db, tmp_path, digest, triage, turns=turns) as it:
        events = await continued(it, await failed(it))
        assert texts(events) == ["2 urgent"]
        assert len(it.model.requests) == 2
        assert not [event for event in events if event["data"].get("part", {}).get("type") == "subrun"]


async def test_an_agent_that_failed_is_called_again_and_its_finished_neighbour_is_not(
    db: Database, tmp_path: Path
) -> None:
    @flow("chat")
    async def both(ctx: Context) -> str:
        async def refuse() -> str:
            return str(await ctx.run("nobody" if not it_exists else "worker", "second"))

        return " ".join(await ctx.gather(ctx.run(WORKER, "first"), refuse()))

    it_exists = []
    async with playing(db, tmp_path, both, WORKER, turns=[turn("One."), turn("Two.")]) as it:
        run_id = await failed(it)
        it_exists.append(True)
        assert texts(await continued(it, run_id)) == ["One. Two."]
        assert len(it.model.requests) == 2


async def test_a_failure_that_the_function_went_on_after_stays_a_failure(db: Database, tmp_path: Path) -> None:
    works = Works(risky=1, send=1)

    @flow("chat")
    async def careful(ctx: Context) -> str:
        try:
            text = await ctx.step("risky", works.do("risky"))
        except StepFailed:
            text = await ctx.step("instead", works.do("instead"))
        return text + await ctx.step("send", works.do("send"))

    async with playing(db, tmp_path, careful) as it:
        assert texts(await continued(it, await failed(it))) == ["INSTEADSEND"]
        assert works.done == ["risky", "instead", "send", "send"]


async def test_what_a_cancelled_flow_waited_for_is_asked_and_called_anew(db: Database, tmp_path: Path) -> None:
    works = Works()

    @flow("chat")
    async def asking(ctx: Context) -> str:
        first = await ctx.step("first", works.do("first"))
        return f"{first} {await ctx.ask('Send it?', ['yes', 'no'])}"

    async with playing(db, tmp_path, asking) as it:
        run_id = (await it.start()).run_id
        await it.until_status(run_id, "awaiting_approval")
        await cancel_run(it.services, it.owner, run_id)
        assert await it.ended(run_id) == "cancelled"
        again = (await continue_run(it.services, it.owner, run_id)).run_id
        question = (await it.until(again, "question.asked"))["data"]["question"]
        await answer_question(it.services, it.owner, question["id"], {"answer": "yes"})
        assert texts(await it.events(again)) == ["FIRST yes"]
        assert works.done == ["first"]


async def test_an_answer_of_a_person_is_not_asked_for_again(db: Database, tmp_path: Path) -> None:
    works = Works(send=1)

    @flow("chat")
    async def asking(ctx: Context) -> str:
        answer = await ctx.ask("Send it?", ["yes", "no"])
        return f"{answer} {await ctx.step('send', works.do('send'))}"

    async with playing(db, tmp_path, asking) as it:
        run_id = (await it.start()).run_id
        question = (await it.until(run_id, "question.asked"))["data"]["question"]
        await answer_question(it.services, it.owner, question["id"], {"answer": "yes"})
        assert await it.ended(run_id) == "error"
        assert texts(await continued(it, run_id)) == ["yes SEND"]


async def test_a_continued_flow_whose_process_died_before_it_began_still_has_the_steps(
    db: Database, tmp_path: Path
) -> None:
    """The steps are copied with the row of the run, in one transaction."""
    works = Works(second=1)

    @flow("chat")
    async def two(ctx: Context) -> str:
        return await ctx.step("first", works.do("first")) + await ctx.step("second", works.do("second"))

    async with playing(db, tmp_path, two) as it:
        run_id = await failed(it)
        seen: list[list[str]] = []

        def look(tx: Tx) -> None:
            if not tx.execute(sa.select(runs.c.id).where(runs.c.parent_run_id == run_id)).all():
                return  # something else is written meanwhile
            found = sa.select(function_steps.c.name).join(runs, runs.c.id == function_steps.c.run_id)
            seen.append(list(tx.execute(found.where(runs.c.parent_run_id == run_id)).scalars()))

        plain = it.services.db.write

        async def write(fn: Any, *args: Any, **named: Any) -> Any:
            def watched(tx: Tx) -> Any:
                result = fn(tx, *args, **named)
                if not seen:
                    look(tx)
                return result

            return await plain(watched)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(it.services.db, "write", write)
            again = await continue_run(it.services, it.owner, run_id)
        assert seen == [["first"]]
        assert await it.ended(again.run_id) == "completed"


def _team_with_steps(tx: Tx) -> tuple[str, str, str]:
    """A failed run of a flow with many steps, a thousand of them failures that it went on after, and the last a failure
    that ended it; and an effect of another run to copy them to: (effect, other run, other effect)."""
    team = Team(tx)
    run_id, other_id = (
        make_run(tx, team.thread_id, team.owner, status="error", leg="ended", created_at=tx.now) for _ in range(2)
    )
    effect_id, copy_id = (insert_effect(tx, one, 1, 1, "flow", status="failed") for one in (run_id, other_id))
    rows = [
        {
            "id": new_id("step"), "run_id": run_id, "effect_id": effect_id, "path": str(number), "name": "step",
            "kind": "step", "status": "failed" if not (number + 1) % 10 else "finished", "attempt": 1,
            "result": "1", "announced": False, "created_at": tx.now, "ended_at": tx.now,
        }
        for number in range(STEPS)
    ]  # fmt: skip
    tx.insert_many(function_steps, rows)
    return effect_id, other_id, copy_id


async def test_ten_thousand_steps_are_copied_by_one_statement(db: Database) -> None:
    effect_id, run_id, copy_id = await db.write(_team_with_steps)
    inserts: list[str] = []

    def copy(tx: Tx) -> float:
        def note(_conn: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
            if statement.lower().startswith("insert"):
                inserts.append(statement)

        sa.event.listen(tx.conn, "before_cursor_execute", note)
        began = time.process_time()
        journal_store.copy_steps(tx, effect_id, run_id, copy_id)
        took_s = time.process_time() - began
        sa.event.remove(tx.conn, "before_cursor_execute", note)
        return took_s

    took_ms = 1_000 * await db.write(copy)
    print(f"{STEPS} steps copied in {took_ms:.0f} ms of this process ({db.dialect}), at most 200 promised")
    assert len(inserts) == 1
    assert took_ms < SLACK * 200
    copied = await db.read(journal_store.steps_of, copy_id)
    assert len(copied) == STEPS - 1
    assert {step.path for step in copied} == {str(number) for number in range(STEPS - 1)}
    assert {(step.run_id, step.attempt, step.announced) for step in copied} == {(run_id, 0, True)}
    assert sum(step.status == "failed" for step in copied) == STEPS // 10 - 1
    assert len({step.id for step in copied}) == STEPS - 1
    assert all(len(step.id) <= 40 for step in copied)
    left = sa.select(sa.func.count()).select_from(effects)
    assert await db.read(lambda tx: tx.execute(left).scalar_one()) == 2

"""The agents in the folder of examples, each run to its end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest

from outlast.db.database import Database
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.own_agents import find_own_agents
from outlast.kernel.agents.settings import AgentSettings
from outlast.kernel.runs.actions import NewThread
from outlast.kernel.runs.approval_actions import answer_question, decide_approval
from outlast.kernel.runs.stages import WITHHELD_TEXT
from outlast.kernel.threads.actions import list_messages
from outlast.testing.scripted_model import Call, Turn, turn
from outlast_sandbox.providers.memory import Job
from tests.flow.harness import Stage, stage, told_last
from tests.flow.runs.test_function_sandbox import at_work, house

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "agents"
AGENTS = {agent.name: agent for agents in find_own_agents(AgentSettings(str(FOLDER))).values() for agent in agents}
PAY = Call("refund", {"order_id": "B-17", "cents": 900})


def playing(db: Database, folder: Path, agent: Agent, turns: Sequence[Turn], *others: str):
    return stage(db, folder, list(turns), agent=agent, others=[AGENTS[name] for name in others])


async def start(it: Stage, agent: Agent, text: str) -> tuple[str, str]:
    started = await it.start(text, target=NewThread(it.project_id, agent.name))
    return started.run_id, started.thread_id


async def text_of_answer(it: Stage, thread_id: str) -> str:
    answer = (await list_messages(it.services, it.owner, thread_id)).items[-1]
    assert answer.role == "assistant"
    return "".join(part.text for part in answer.parts if part.type == "text")


@pytest.mark.parametrize(("decision", "told"), [("approve", "900 cents were paid back for B-17"), ("deny", "denied")])
async def test_the_support_desk_pays_back_what_a_person_has_approved(
    db: Database, tmp_path: Path, decision: Literal["approve", "deny"], told: str
) -> None:
    turns = [turn(Call("find_order", {"order_id": "B-17"})), turn(PAY), turn("All settled.")]
    async with playing(db, tmp_path, AGENTS["support"], turns) as it:
        run_id, thread_id = await start(it, AGENTS["support"], "Please pay 9 euros back for B-17.")
        asked = (await it.until(run_id, "approval.requested"))["data"]["approval"]
        assert (asked["tool"], asked["reason"]) == ("refund", "Refunds need a person")
        await decide_approval(it.services, it.owner, asked["id"], decision)
        assert await it.ended(run_id) == "completed"
        assert told_last(it.model.requests[1]) == ["B-17: paid, 49900 cents."]
        assert told.lower() in told_last(it.model.requests[2])[0].lower()
        assert await text_of_answer(it, thread_id) == "All settled."


async def test_the_order_desk_looks_an_order_up_before_it_answers(db: Database, tmp_path: Path) -> None:
    turns = [turn(Call("find_order", {"order_id": "B-17"})), turn("It is paid.")]
    async with playing(db, tmp_path, AGENTS["order-desk"], turns) as it:
        run_id, _ = await start(it, AGENTS["order-desk"], "Is B-17 paid?")
        assert await it.ended(run_id) == "completed"
        assert [request.tool_choice for request in it.model.requests] == ["find_order", "auto"]


async def test_the_charts_are_images_in_the_answer(db: Database, tmp_path: Path) -> None:
    turns = [turn(Call("price_chart", {"order_ids": ["B-17", "B-18"]})), turn("B-17 costs more.")]
    async with playing(db, tmp_path, AGENTS["charts"], turns) as it:
        run_id, thread_id = await start(it, AGENTS["charts"], "Draw B-17 and B-18.")
        assert await it.ended(run_id) == "completed"
        answer = (await list_messages(it.services, it.owner, thread_id)).items[-1]
        (image,) = [part for part in answer.parts if part.type == "image"]
        assert (image.name, image.width, image.height) == ("Prices of B-17, B-18", 120, 100)


@pytest.mark.parametrize("said", ["You paid with 4111 1111-1111 1111.", "We promise it comes on Monday."])
async def test_the_careful_desk_writes_an_answer_again_that_has_what_it_must_not_have(
    db: Database, tmp_path: Path, said: str
) -> None:
    turns = [turn("Let me look.", Call("find_order", {"order_id": "B-17"})), turn(said), turn("It is paid.")]
    async with playing(db, tmp_path, AGENTS["careful-desk"], turns) as it:
        run_id, thread_id = await start(it, AGENTS["careful-desk"], "How did I pay B-17?")
        events = await it.events(run_id)
        assert said in "".join(e["data"]["delta"] for e in events if e["event"] == "text.delta"), "it was shown"
        assert await text_of_answer(it, thread_id) == "It is paid."
        assert said in str(it.model.requests[2].messages)
        assert "Write it again" in str(it.model.requests[2].messages[-1])
        steps = [e["data"] for e in events if e["event"] == "workflow.step" and e["data"]["name"] == "check_answer"]
        assert [step["status"] for step in steps] == ["failed", "done"]


async def test_the_careful_desk_saves_no_text_if_it_is_never_right(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, AGENTS["careful-desk"], [turn("I guarantee it.")] * 6) as it:
        run_id, thread_id = await start(it, AGENTS["careful-desk"], "Will it last?")
        ended = (await it.events(run_id))[-2]["data"]
        assert (ended["stop_reason"], ended["credits"]) == ("problems", 0)
        assert ended["problems"] == ["Your answer makes a promise. Write it again, and say only what is in the order."]
        answer = (await list_messages(it.services, it.owner, thread_id)).items[-1]
        (notice,) = answer.parts
        assert notice.type == "notice"
        assert notice.text == WITHHELD_TEXT


@pytest.mark.parametrize("said", ["Order 4111 1111 1111 1112 is paid.", "You asked for a guarantee.", "Call 555 0100."])
async def test_the_careful_desk_lets_other_numbers_and_words_pass(db: Database, tmp_path: Path, said: str) -> None:
    async with playing(db, tmp_path, AGENTS["careful-desk"], [turn(said)]) as it:
        _, thread_id = started = await start(it, AGENTS["careful-desk"], "Well?")
        assert await it.ended(started[0]) == "completed"
        assert await text_of_answer(it, thread_id) == said


async def test_the_triage_answers_with_an_object(db: Database, tmp_path: Path) -> None:
    verdict = {"topic": "repair", "urgent": True, "summary": "The brakes do not work."}
    turns = [turn(Call("final_answer", {**verdict, "topic": "brakes"})), turn(Call("final_answer", verdict))]
    async with playing(db, tmp_path, AGENTS["triage"], turns) as it:
        run_id, thread_id = await start(it, AGENTS["triage"], "My brakes do not work!")
        assert await it.ended(run_id) == "completed"
        assert json.loads(await text_of_answer(it, thread_id)) == verdict


async def test_the_persona_reads_its_instructions_and_has_no_tools(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, AGENTS["plain-words"], [turn("Pay by Friday.")]) as it:
        run_id, thread_id = await start(it, AGENTS["plain-words"], "Remittance is due at the close of the week.")
        assert await it.ended(run_id) == "completed"
        assert it.model.requests[0].system.startswith("You rewrite what people send you")
        assert it.model.requests[0].tools == ()
        assert await text_of_answer(it, thread_id) == "Pay by Friday."
        answer = (await list_messages(it.services, it.owner, thread_id)).items[-1]
        assert answer.profile == "plain-words"


async def test_the_front_desk_hands_a_refund_over_to_the_support_desk(db: Database, tmp_path: Path) -> None:
    reason = "Wants 9 euros of order B-17 back."
    turns = [turn("I'll pass you on.", Call("transfer_to_support", {"reason": reason})), turn("Which 9 euros?")]
    async with playing(db, tmp_path, AGENTS["front-desk"], turns, "support") as it:
        run_id, thread_id = await start(it, AGENTS["front-desk"], "Please pay 9 euros back for B-17.")
        assert await it.ended(run_id) == "completed"
        following = [event["data"]["part"] for event in await it.events(run_id) if event["event"] == "part.completed"][
            -1
        ]
        assert (following["by"], following["title"], following["reason"]) == ("Front desk", "Support desk", reason)
        assert await it.ended(following["run_id"]) == "completed"
        assert await text_of_answer(it, thread_id) == "Which 9 euros?"
        answers = (await list_messages(it.services, it.owner, thread_id)).items[1:]
        assert [answer.profile for answer in answers] == ["front-desk", "support"]


def sorted_as(*, urgent: bool) -> Turn:
    return turn(Call("final_answer", {"topic": "other", "urgent": urgent, "summary": "A letter."}))


@pytest.mark.parametrize(("answer", "told"), [("yes", "Three letters."), ("no", "No digest was written.")])
async def test_the_weekly_digest_sorts_letters_asks_a_person_and_lets_another_agent_write(
    db: Database, tmp_path: Path, answer: str, told: str
) -> None:
    turns = [sorted_as(urgent=True), sorted_as(urgent=False), sorted_as(urgent=False), turn("Three letters.")]
    async with playing(db, tmp_path, AGENTS["weekly-digest"], turns, "triage", "digest-writer") as it:
        run_id, thread_id = await start(it, AGENTS["weekly-digest"], "Go.")
        question = (await it.until(run_id, "question.asked"))["data"]["question"]
        assert question["questions"][0]["question"] == "Urgent letters: 1. Write the digest now?"
        await answer_question(it.services, it.owner, question["id"], {"answer": answer})
        assert await it.ended(run_id) == "completed"
        assert await text_of_answer(it, thread_id) == told


async def test_reviewed_work_goes_back_to_the_executor_until_it_is_approved(db: Database, tmp_path: Path) -> None:
    turns = [
        turn("A first draft."),
        turn(Call("final_answer", {"approved": False, "remarks": "Shorter."})),
        turn("Short."),
        turn(Call("final_answer", {"approved": True})),
    ]
    async with playing(db, tmp_path, AGENTS["reviewed-work"], turns, "executor", "reviewer") as it:
        run_id, thread_id = await start(it, AGENTS["reviewed-work"], "Write a slogan.")
        assert await it.ended(run_id) == "completed"
        assert await text_of_answer(it, thread_id) == "Short."


async def test_the_long_job_reads_each_page_once(db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = AGENTS["archive"].flow
    monkeypatch.setitem(job.__globals__, "PAUSE_S", 0.01)  # type: ignore[union-attr]
    async with playing(db, tmp_path, AGENTS["archive"], []) as it:
        run_id, thread_id = await start(it, AGENTS["archive"], "Go.")
        assert await it.ended(run_id) == "completed"
        assert await text_of_answer(it, thread_id) == "5 pages with 605 words."


async def test_the_price_watch_knows_the_price_of_the_last_message(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, AGENTS["price-watch"], []) as it:
        run_id, thread_id = await start(it, AGENTS["price-watch"], "Go.")
        assert await it.ended(run_id) == "completed"
        assert await text_of_answer(it, thread_id) == "49900 cents, +0 since you last asked."
        assert await it.ended((await it.start("And now?", target=thread_id)).run_id) == "completed"
        assert await text_of_answer(it, thread_id) == "47500 cents, -2400 since you last asked."
        file = (await list_messages(it.services, it.owner, thread_id)).items[-1].parts[0]
        assert file.type == "file"
        assert (file.name, file.size_bytes) == ("prices.csv", len("cents\n49900\n47500"))


async def _python(job: Job, words: Sequence[str]) -> int:
    """Prints the program instead of running it."""
    job.write(job.files[words[0]].decode() + "\n")
    return 0


async def test_run_it_writes_the_program_of_a_message_and_answers_with_its_output(db: Database, tmp_path: Path) -> None:
    async with house(db, tmp_path, AGENTS["run-it"]) as here, at_work(here.it):
        here.provider.respond("python3", _python)
        run_id, thread_id = await start(here.it, AGENTS["run-it"], "print(6 * 7)")
        assert await here.it.ended(run_id) == "completed"
        assert "print(6 * 7)\n\nIt ended with exit code 0." in await text_of_answer(here.it, thread_id)

"""The document agent: what it proposes, what is refused and mended, what it can look up. On both databases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest

from outlast.apps.documents.settings import DocumentSettings
from outlast.base.errors import FenceLost, ModelRateLimited, RunFinished
from outlast.db.database import Database
from outlast.kernel.agents.tool import Tool
from outlast.kernel.models.protocol import ModelRequest
from outlast.kernel.runs.actions import cancel_run
from outlast.kernel.runs.cancel import request_cancel
from outlast.kernel.runs.settings import RetrySettings
from outlast.kernel.runs.store import run_of
from outlast.kernel.settings import Settings
from outlast.testing.agents import make_context
from outlast.testing.scripted_model import HANG, Call, Fail, ScriptedModel, Turn, WaitFor, turn
from tests.app_settings import settings_with
from tests.document_changes import delete_block
from tests.flow.documents.agent_rig import DocumentAgent, document_agent, propose, replace_edit
from tests.flow.harness import told


def result_of(request: ModelRequest) -> dict[str, Any]:
    """What the model is told of its last call."""
    value: dict[str, Any] = orjson.loads(told(request.messages[-1])[0])
    return value


def tool_of(it: DocumentAgent) -> Tool:
    tool = it.agent.tool("propose_edits")
    assert tool is not None
    return tool


async def test_edits_wait_for_a_person_and_stand_in_the_answer(db: Database, tmp_path: Path) -> None:
    model = ScriptedModel()
    async with document_agent(db, tmp_path, model) as it:
        first, second = await it.block(0), await it.block(1)
        section = (await it.tree()).sections[-1]
        model.add(
            turn(
                "I propose:",
                propose(
                    replace_edit(first, "Shorter."),
                    {"op": "delete", "block_id": second.id, "old_text": second.markdown},
                    {"op": "insert", "section_id": section.id, "new_text": "A first word."},
                    {"op": "move", "block_id": (await it.block(3)).id, "section_id": section.id},
                    {"op": "insert_section", "after_id": section.id, "heading": "More", "new_text": "Text."},
                    summary="Five things",
                ),
            ),
            turn("Have a look."),
        )
        events = await it.asked("Change a few things")
        (proposal,) = await it.proposals()
        assert (proposal.summary, proposal.state) == ("Five things", "open")
        ops = [edit.op for edit in proposal.edits]
        assert ops == ["replace", "delete", "insert", "move", "insert_section"]
        assert (await it.block(0)).markdown == first.markdown
        (part,) = [part for part in (await it.messages())[-1].parts if part.type == "proposal"]
        assert (part.proposal_id, part.document_id, part.edits) == (proposal.id, it.document_id, 5)
        assert part.summary == "Five things"
        said = result_of(model.requests[1])
        assert said["proposal_id"] == proposal.id
        assert len(said["edits"]) == 5
        assert events[-2]["event"] == "run.completed"


async def test_a_text_that_a_person_changed_meanwhile_is_told_and_the_edit_mended_in_the_same_run(
    db: Database, tmp_path: Path
) -> None:
    changed = anyio.Event()
    block_id = ""

    def choose(request: ModelRequest) -> Turn:
        if len(model.requests) == 1:
            return turn(WaitFor(changed), propose({**edit, "new_text": "Mine."}))
        if len(model.requests) == 2:
            (refused,) = result_of(request)["refused"]
            assert refused["block_id"] == block_id
            return turn(propose({**edit, "old_text": refused["present_text"], "new_text": "Ours."}))
        return turn("Done.")

    model = ScriptedModel(choose)
    async with document_agent(db, tmp_path, model) as it:
        block = await it.block(0)
        block_id = block.id
        edit = {"op": "replace", "block_id": block.id, "old_text": block.markdown}
        started = await it.ask("Shorter")
        await model.wait_requests(1)
        await it.rewrite(block, "Theirs.")
        changed.set()
        assert await it.ended(started.run_id) == "completed"
        (proposal,) = await it.proposals()
        (kept,) = proposal.edits
        assert (kept.old_text, kept.new_text) == ("Theirs.", "Ours.")
        calls = [part for part in (await it.messages())[-1].parts if part.type == "tool_call"]
        assert [part.status for part in calls] == ["error", "done"]


async def test_a_call_is_taken_whole_or_not_at_all(db: Database, tmp_path: Path) -> None:
    model = ScriptedModel()
    async with document_agent(db, tmp_path, model) as it:
        first, second = await it.block(0), await it.block(1)
        wrong = {"op": "replace", "block_id": second.id, "old_text": "Never said.", "new_text": "New."}
        gone = {"op": "delete", "block_id": "blk_gone", "old_text": "x"}
        model.add(turn(propose(replace_edit(first, "Fine."), wrong, gone)), turn("I give up."))
        assert await it.ended((await it.ask()).run_id) == "completed"
        assert await it.proposals() == []
        refused = result_of(model.requests[1])["refused"]
        assert [one["edit"] for one in refused] == [2, 3]
        assert refused[0]["present_text"] == second.markdown
        assert "blk_gone" in refused[1]["reason"]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"summary": "x", "edits": []}, "edits"),
    ({"edits": [{"op": "delete", "block_id": "b", "old_text": "x"}]}, "summary"),
    ({"summary": "x", "edits": [{"op": "rewrite", "block_id": "b"}]}, "op"),
    ({"summary": "x", "edits": [{"op": "replace", "block_id": "b", "new_text": "y"}]}, "needs old_text"),
    ({"summary": "x", "edits": [{"op": "insert", "new_text": "y"}]}, "section_id"),
    ({"summary": "x", "edits": [{"op": "delete", "block_id": "b", "old_text": "x", "heading": "y"}]}, "heading"),
    ({"summary": "x", "edits": [{"op": "replace", "block_id": "b", "old_text": "x", "new_text": " "}]}, "delete"),
    ({"summary": "x", "edits": [{"op": "insert_section", "heading": " ", "new_text": "y"}]}, "heading"),
    ({"summary": "x", "edits": [{"op": "delete", "block_id": "b", "old_text": "x", "more": 1}]}, "more"),
    ({"summary": "x", "edits": [{"op": "delete", "block_id": "b", "old_text": "x"}] * 4}, "at most 3"),
]


async def test_arguments_that_do_not_fit_are_told_and_the_run_goes_on(db: Database, tmp_path: Path) -> None:
    few = settings_with(Settings(), DocumentSettings(edits_per_proposal=3))
    calls = [Call("propose_edits", arguments) for arguments, _ in BAD]
    async with document_agent(db, tmp_path, [turn(*calls), turn("I see.")], settings=few) as it:
        assert await it.ended((await it.ask()).run_id) == "completed"
        said = told(it.model.requests[1].messages[-1])
        for (_, named), text in zip(BAD, said, strict=True):
            assert named in text
        assert await it.proposals() == []


async def test_a_model_that_is_too_busy_in_the_middle_is_asked_again_and_proposes_once(
    db: Database, tmp_path: Path
) -> None:
    quick = Settings(retry=RetrySettings(base_s=0.001))
    model = ScriptedModel()
    async with document_agent(db, tmp_path, model, settings=quick) as it:
        call = propose(replace_edit(await it.block(0), "Shorter."))
        broken = Fail(ModelRateLimited("Too many requests.", retry_after_s=0.001))
        model.add(turn("Half of", broken), turn("All of it:", call), turn("So", broken), turn("So there."))
        assert await it.ended((await it.ask()).run_id) == "completed"
        assert len(await it.proposals()) == 1
        parts = (await it.messages())[-1].parts
        assert [part.type for part in parts] == ["text", "tool_call", "proposal", "text"]


async def test_what_no_database_can_hold_is_left_out_of_a_proposal(db: Database, tmp_path: Path) -> None:
    async with document_agent(db, tmp_path, [turn(HANG)]) as it:
        started = await it.ask()
        await it.model.wait_requests(1)
        run = await db.read(run_of, started.run_id)
        block = await it.block(0)
        context = make_context(run)
        odd = [
            replace_edit(block, "Shor\x00ter."),
            {
                "op": "insert_section",
                "after_id": f"{block.section_id}\x00",
                "heading": "Ri\x00sks",
                "new_text": "No\x00ne.",
            },
        ]
        arguments = propose(*odd, summary="Bet\x00ter").arguments
        assert isinstance(arguments, dict)
        told = await tool_of(it).run(context, arguments)
        assert not told.is_error, told.content
        (proposal,) = await it.proposals()
        assert proposal.summary == "Better"
        assert [edit.new_text for edit in proposal.edits] == ["Shorter.", "None."]
        assert proposal.edits[1].heading == "Risks"


async def test_a_later_attempt_of_a_call_finds_what_the_first_one_proposed(db: Database, tmp_path: Path) -> None:
    async with document_agent(db, tmp_path, [turn(HANG)]) as it:
        started = await it.ask()
        await it.model.wait_requests(1)
        run = await db.read(run_of, started.run_id)
        context = make_context(run)
        arguments = propose(replace_edit(await it.block(0), "Shorter.")).arguments
        assert isinstance(arguments, dict)
        tool = tool_of(it)
        one, two = await tool.run(context, arguments), await tool.run(context, arguments)
        assert one.content == two.content
        assert len(await it.proposals()) == 1
        late = make_context(run, "eff_2", attempt=run.attempt - 1)
        with pytest.raises(FenceLost):
            await tool.run(late, arguments)
        await cancel_run(it.services, it.owner, started.run_id)
        ended = make_context(run, "eff_3")
        with pytest.raises((FenceLost, RunFinished)):
            await tool.run(ended, arguments)
        assert len(await it.proposals()) == 1


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_run_that_is_cancelled_while_it_proposes_shows_what_it_did(
    db: Database, tmp_path: Path, when: str
) -> None:
    """Before the proposal is committed: there is none. After it: it stands in the answer, like its call's result."""
    model = ScriptedModel()
    gate = Gate(db, when)
    async with document_agent(db, tmp_path, model, agent_db=gate) as it:
        model.add(turn(propose(replace_edit(await it.block(0), "Shorter."))))
        started = await it.ask()
        await gate.reached.wait()
        await db.write(request_cancel, it.services.engine, started.run_id, "user", it.owner.user_id)
        gate.opened.set()
        assert await it.ended(started.run_id) == "cancelled"
        kinds = [part.type for part in (await it.messages())[-1].parts]
        assert kinds == (["tool_call", "proposal"] if when == "after" else ["tool_call"])
        assert len(await it.proposals()) == (1 if when == "after" else 0)


class Gate:
    """A database whose writes wait, before or after their commit, until the test lets them go."""

    def __init__(self, db: Database, when: str) -> None:
        self._db, self._when = db, when
        self.reached, self.opened = anyio.Event(), anyio.Event()

    async def write(self, change: Any, *given: Any) -> Any:
        made = await self._db.write(change, *given) if self._when == "after" else None
        self.reached.set()
        await self.opened.wait()
        return made if made is not None else await self._db.write(change, *given)


async def test_a_section_is_read_as_it_is_now_and_blocks_are_found_by_words(db: Database, tmp_path: Path) -> None:
    model = ScriptedModel()
    async with document_agent(db, tmp_path, model) as it:
        risks = (await it.tree()).sections[-2]
        model.add(
            turn(
                Call("read_document", {"section_id": risks.id}, "a"),
                Call("read_document", {"query": "tools free"}, "b"),
                Call("read_document", {}, "c"),
                Call("read_document", {"section_id": "sec_gone"}, "d"),
                Call("read_document", {"query": "zebra"}, "e"),
            ),
            turn("I see."),
        )
        await it.asked("What does it say?")
        section, found, outline, gone, nothing = told(model.requests[1].messages[-1])
        assert "three risks" in section
        assert "large number of tools" not in section
        assert "large number of tools" in found
        assert risks.id in outline
        assert "three risks" not in outline
        assert "There is no section sec_gone" in gone
        assert "No block" in nothing


async def test_a_document_that_was_deleted_is_said_and_the_run_goes_on(db: Database, tmp_path: Path) -> None:
    async with document_agent(db, tmp_path, [turn("There is nothing left.")]) as it:
        thread_id = await it.thread_on(type="section", id="sec_gone")
        events = await it.asked("Shorter", target=thread_id)
        notices = [e["data"]["part"] for e in events if e["event"] == "part.created"]
        assert [part["code"] for part in notices if part["type"] == "notice"] == ["anchor_gone"]
        assert events[-2]["event"] == "run.completed"


async def test_an_edit_of_a_block_that_is_gone_by_then_is_refused(db: Database, tmp_path: Path) -> None:
    model = ScriptedModel()
    async with document_agent(db, tmp_path, model) as it:
        block = await it.block(0)
        await it.write(delete_block(block.id, block.markdown))
        model.add(turn(propose(replace_edit(block, "New."))), turn("Gone."))
        await it.asked()
        assert "not a block of this document" in told(model.requests[1].messages[-1])[0]


async def _nobody(_workspace: str, _sandbox: str) -> None:
    """Nothing is lost here."""

"""The demo model beside a real document: it reads the blocks that it is told, and proposes real edits of them."""

from pathlib import Path

import orjson

from outlast.apps.knowledge.search import Knowledge
from outlast.base.clock import SystemClock
from outlast.db.database import Database
from outlast.kernel.files.actions import upload_artifact
from outlast.kernel.files.keeper import ArtifactKeeper
from outlast.kernel.library.search import SEARCH
from outlast.testing.scripted_model import Call, ScriptedModel, turn
from outlast_demo.model import DemoModel
from tests.flow.documents.agent_rig import document_agent
from tests.flow.harness import told

LIMIT = 4


async def test_a_newcomer_without_a_key_gets_real_edits_of_the_real_text(db: Database, tmp_path: Path) -> None:
    async with document_agent(db, tmp_path, DemoModel(delta_delay_s=0)) as it:
        before = await it.tree()
        events = await it.asked("Tighten this document")
        (proposal,) = await it.proposals()
        assert len(proposal.edits) >= LIMIT
        texts = {block.id: block.markdown for block in before.blocks()}
        for edit in proposal.edits:
            assert edit.old_text == texts[edit.block_id or ""]
            assert 0 < len(edit.new_text) <= len(edit.old_text)
            assert edit.new_text != edit.old_text
        assert (await it.tree()) == before  # nothing changes before somebody accepts
        answer = (await it.messages())[-1]
        assert [part.type for part in answer.parts] == ["reasoning", "text", "tool_call", "proposal", "text"]
        assert answer.parts[3].proposal_id == proposal.id
        assert "demo model" in answer.parts[4].text
        assert [event["event"] for event in events][-2:] == ["run.completed", "stream.ended"]


async def test_a_new_section_quotes_what_a_file_of_the_project_says(db: Database, tmp_path: Path) -> None:
    search = {SEARCH: Knowledge(db, SystemClock())}
    async with document_agent(db, tmp_path, DemoModel(delta_delay_s=0), implementations=search) as it:
        notes = b"# Rollout\n\nThe rollout begins in Lisbon in March. It takes a week.\n"
        await upload_artifact(it.services, it.owner, it.project_id, "notes.md", notes)
        await ArtifactKeeper(db, SystemClock(), it.services.blobs, it.services.settings).read_due()
        events = await it.asked("Add a section about the rollout")
        (proposal,) = await it.proposals()
        (edit,) = proposal.edits
        assert (edit.op, edit.heading) == ("insert_section", "Rollout")
        assert "begins in Lisbon in March" in edit.new_text
        assert "— notes.md" in edit.new_text
        tools = [part.tool for part in (await it.messages())[-1].parts if part.type == "tool_call"]
        assert tools == ["search_files", "propose_edits"]
        assert events[-2]["event"] == "run.completed"


async def test_the_agent_reads_on_in_a_file_that_a_search_found(db: Database, tmp_path: Path) -> None:
    search = {SEARCH: Knowledge(db, SystemClock())}
    model = ScriptedModel()
    async with document_agent(db, tmp_path, model, implementations=search) as it:
        made = await upload_artifact(it.services, it.owner, it.project_id, "long.txt", b"word " * 6_000 + b"end")
        await ArtifactKeeper(db, SystemClock(), it.services.blobs, it.services.settings).read_due()
        model.add(
            turn(
                Call("read_file", {"id": made.id}, "a"),
                Call("read_file", {"id": "long.txt", "after": 20_000}, "b"),
                Call("read_file", {"id": "art_none"}, "c"),
                Call("search_files", {"query": "zebra crossing"}, "d"),
            ),
            turn("I see."),
        )
        await it.asked("What does the file say?")
        first, rest, none, nothing = told(model.requests[1].messages[-1])
        assert orjson.loads(first)["more"] == {"after": 20_000}
        assert orjson.loads(rest)["text"].endswith("word end")
        assert "Neither the thread nor the project has such a file." in none
        assert orjson.loads(nothing)["results"] == []
        assert "search_files" in model.requests[0].system

"""The demo model beside a real document: it reads the blocks that it is told, and proposes real edits of them."""

from pathlib import Path

from outlast.core.models.providers.demo import DemoModel
from outlast.db.database import Database
from tests.flow.documents.agent_rig import document_agent

LIMIT = 4


async def test_a_newcomer_without_a_key_gets_real_edits_of_the_real_text(
    db: Database, tmp_path: Path
) -> None:
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

"""What a tool shows people beside its result: recorded with it, in its step, once."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from outlast.base.errors import WorkspaceUnreadable
from outlast.db.database import Database
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import ToolResult
from outlast.kernel.threads.parts import ProposalPart
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import Call, turn
from tests.flow.harness import stage, told


async def propose(context: Context, _arguments: Mapping[str, Any]) -> ToolResult:
    part = ProposalPart(
        id=f"prt_{context.effect_id}", proposal_id="prp_1", document_id="doc_1", edits=2, summary="Shorter"
    )
    return ToolResult("Proposed.", parts=(part,))


async def test_a_part_of_a_tool_stands_behind_its_call_in_the_answer(db: Database, tmp_path: Path) -> None:
    turns = [turn("I propose:", Call("propose", {})), turn("Have a look.")]
    async with stage(db, tmp_path, turns, FakeTool("propose", propose)) as it:
        started = await it.start()
        events = await it.events(started.run_id)
        parts = (await it.messages())[-1].parts
        assert [part.type for part in parts] == ["text", "tool_call", "proposal", "text"]
        assert (parts[2].step, parts[2].proposal_id) == (1, "prp_1")
        names = [event["event"] for event in events]
        result = names.index("tool_call.result")
        assert names[result + 1 : result + 3] == ["part.created", "part.completed"]
        assert told(it.model.requests[1].messages[-1]) == ["Proposed."]  # the model reads the result alone


async def test_a_workspace_that_cannot_be_restored_is_told_to_people_once_and_to_the_model_each_time(
    db: Database, tmp_path: Path
) -> None:
    async def refuse(_context: Context, _arguments: Mapping[str, Any]) -> ToolResult:
        raise WorkspaceUnreadable("The files of this workspace cannot be restored: a stored file is missing.")

    turns = [turn(Call("look", {})), turn(Call("look", {})), turn("I cannot look.")]
    async with stage(db, tmp_path, turns, FakeTool("look", refuse)) as it:
        started = await it.start()
        await it.events(started.run_id)
        parts = (await it.messages())[-1].parts
        assert [part.type for part in parts] == ["tool_call", "notice", "tool_call", "text"]
        assert parts[1].code == "workspace_unreadable"
        for request in it.model.requests[1:]:
            (said,) = told(request.messages[-1])
            assert "Do not call the tool again" in said
            assert "/v1/" not in said

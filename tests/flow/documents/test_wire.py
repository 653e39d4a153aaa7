"""The document agent over the wire formats of real providers: its schema goes out, nested edits come back, and a
service that is too busy, or gone in the middle, costs nothing but time."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from outlast.db.database import Database
from outlast.kernel.runs.settings import RetrySettings
from outlast.kernel.settings import Settings
from outlast.testing.model_server import Answer, Fault
from tests.flow.documents.agent_rig import document_agent, replace_edit
from tests.flow.models.rig import KINDS, rigged

QUICK = Settings(retry=RetrySettings(attempts=2, base_s=0.001))


@pytest.fixture
async def db(migrated_sqlite: Path, tmp_path: Path) -> AsyncIterator[Database]:
    """The wire is the same on any database."""
    shutil.copy(migrated_sqlite, tmp_path / "outlast.db")
    database = open_database("sqlite:///outlast.db", tmp_path, SystemClock())
    yield database
    await database.aclose()


@pytest.mark.parametrize("kind", [KINDS[0], *(pytest.param(kind, marks=pytest.mark.deep) for kind in KINDS[1:])])
async def test_a_stale_text_is_mended_and_a_busy_service_asked_again_in_one_run(
    db: Database, tmp_path: Path, kind: str
) -> None:
    async with rigged(kind) as rig, document_agent(db, tmp_path, rig.model, settings=QUICK) as it:
        block, section = await it.block(0), (await it.tree()).sections[-1]

        def call(old: str) -> dict[str, object]:
            edits = [
                {**replace_edit(block, "We describe the plan."), "old_text": old},
                {"op": "insert_section", "after_id": section.id, "heading": "More", "level": 2, "new_text": "Words."},
            ]
            return {"name": "propose_edits", "arguments": {"summary": "Two things", "edits": edits}}

        rig.server.add(
            Answer(fault=Fault.RATE_LIMITED, retry_after="0"),
            Answer(text="I propose:", calls=(call("Never said."),)),
            Answer(text="Once more, but", calls=(call(block.markdown),), fault=Fault.DISCONNECT_MID),
            Answer(text="Once more:", calls=(call(block.markdown),)),
            Answer(text="Have a look."),
        )
        started = await it.ask("Make it shorter")
        assert await it.ended(started.run_id) == "completed"
        (proposal,) = await it.proposals()
        assert [edit.op for edit in proposal.edits] == ["replace", "insert_section"]
        parts = (await it.messages())[-1].parts
        kinds = ["text", "tool_call", "text", "tool_call", "proposal", "text"]
        assert [part.type for part in parts] == kinds
        assert [part.status for part in parts if part.type == "tool_call"] == ["error", "done"]
        assert b"present_text" in repr(rig.server.requests[-1].body).encode()
        assert "propose_edits" in repr(rig.server.requests[0].body)

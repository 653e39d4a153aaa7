"""The `chat` agent: what it offers, and what its model is told."""

from __future__ import annotations

from pathlib import Path

from outlast.apps.chat.agent import chat_agent
from outlast.db.blobs import FolderBlobs
from outlast.db.database import Database, Tx
from outlast.kernel.agents.prompt import PromptContext
from outlast.kernel.library.search import SEARCH_DOCS
from outlast.kernel.models.protocol import ModelSpec
from outlast.kernel.runs.store import run_of
from outlast.kernel.settings import Settings
from outlast.testing.agents import FakeTool
from tests.factories import Team, make_opening, make_run


async def test_it_searches_documentation_also_without_a_sandbox_and_tells_the_model_when(
    db: Database, tmp_path: Path
) -> None:
    settings = Settings(sandbox=None)
    search = {SEARCH_DOCS: FakeTool("search_docs")}
    agent = chat_agent(make_opening(db, tmp_path, settings, implementations=search))
    assert {tool.name for tool in agent.tools} == {"search_docs", "ask_user"}

    def instructions(tx: Tx) -> str:
        team = Team(tx)
        run = run_of(tx, make_run(tx, team.thread_id, team.editor))
        model, blobs = ModelSpec("demo", "demo", "demo"), FolderBlobs(tmp_path)
        return agent.prompt(PromptContext(tx, run, model, settings, blobs)).system

    system = await db.write(instructions)
    assert "look it up with search_docs" in system
    assert "\n\n\n" not in system

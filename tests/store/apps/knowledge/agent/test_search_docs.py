"""What a run finds when it looks things up, with and without a sandbox."""

from __future__ import annotations

from typing import Any

import orjson
import sqlalchemy as sa

from outlast.apps.knowledge.agent.search_docs import search_docs_tool
from outlast.apps.knowledge.search import Knowledge
from outlast.base.clock import SystemClock
from outlast.db.database import Database, Tx
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.workspaces import workspace_of_thread
from outlast.kernel.runs.store import run_of
from outlast.kernel.runs.tables import runs
from outlast.testing.agents import make_context
from tests.factories import Team, make_run
from tests.store.apps.knowledge.test_search import Shelf, put_source


async def _lost(workspace_id: str, sandbox_id: str) -> None:
    raise AssertionError("no sandbox is needed for a search")


async def context_of(db: Database, team: Team, **fields: Any) -> Context:
    run_id = await db.write(make_run, team.thread_id, team.editor, **fields)
    run = await db.read(run_of, run_id)
    return make_context(run, attempt=1, lost=_lost)


async def test_a_run_finds_documentation_of_its_project_as_json(db: Database):
    team: Team = await db.write(Team)
    await db.write(put_source, project_id=team.project_id)
    tool = search_docs_tool(Knowledge(db, SystemClock()), db, results=3)
    context = await context_of(db, team)
    result = await tool.run(context, {"query": "create an issue"})
    body = orjson.loads(result.content)
    assert not result.is_error
    assert [one["heading"] for one in body["results"]] == ["Issues › Create", "Issues › List"]
    assert body["results"][0]["fetched_at"] == "2030-01-01T12:00:00.000Z"
    assert "available_packages" not in body


async def test_where_nothing_is_found_the_packages_are_named(db: Database):
    team: Team = await db.write(Team)
    await db.write(put_source)
    tool = search_docs_tool(Knowledge(db, SystemClock()), db)
    context = await context_of(db, team)
    body: dict[str, Any] = {}
    for arguments in ({"query": "xylophone"}, {"query": "issues", "package": "npm:other"}):
        body = orjson.loads((await tool.run(context, arguments)).content)
        assert body["results"] == []
        assert body["available_packages"] == ["npm:tracker (2.1.0)"]
    assert "No documentation of npm:other" in body["note"]


async def test_modules_are_those_of_the_workspace_of_run_or_thread_and_of_who_started_it(db: Database):
    team: Team = await db.write(Team)
    shelf = Shelf()
    tool = search_docs_tool(Knowledge(db, SystemClock(), modules=shelf), db)
    context = await context_of(db, team)
    await tool.run(context, {"query": "open issues"})

    def open_workspace(tx: Tx) -> str:
        tx.execute(sa.update(runs).values(workspace_id=None))
        return workspace_of_thread(tx, team.project_id, team.thread_id)

    workspace_id = await db.write(open_workspace)
    body = orjson.loads((await tool.run(context, {"query": "open issues"})).content)
    assert body["results"][0]["path"] == "lib/tracker.ts"
    assert shelf.asked == [(None, team.editor.user_id), (workspace_id, team.editor.user_id)]

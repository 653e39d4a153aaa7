"""Rows of screens and the news about them, on both databases."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from outlast.apps.screens import store
from outlast.apps.screens.placement import Box
from outlast.apps.screens.shapes import ScreenFile, ThemeTokens
from outlast.base.errors import NotFound
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.runs.notifications import announce_thread
from outlast.kernel.sandboxes.tables import sandboxes, workspaces
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.subjects.subject import NewSubject
from outlast.kernel.threads.store import set_run_state
from tests.factories import Team, make_thread


def make_screen(tx: Tx, /, team: Team, **fields: Any) -> str:
    screen_id, workspace_id = new_id("screen"), new_id("workspace")
    anchor = {"type": "screen", "id": screen_id}
    thread_id = make_thread(tx, team.project_id, team.owner, profile="screen", anchor=anchor)
    owner = {"owner_type": "screen", "owner_id": screen_id, "project_id": team.project_id}
    moments = {"created_at": tx.now, "last_used_at": tx.now}
    tx.execute(sa.insert(workspaces).values(id=workspace_id, **owner, **moments))
    new = NewSubject(
        id=screen_id,
        project_id=team.project_id,
        thread_id=thread_id,
        workspace_id=workspace_id,
        title=fields.pop("title", "Shop"),
        named=fields.pop("named", False),
        created_by=team.owner.user_id,
    )
    given: dict[str, Any] = {"template": "next", "theme": "default", "place": Box(1, 2, 300, 400)}
    store.add(tx, new, **{**given, **fields})
    return screen_id


@pytest.fixture
async def team(db: Database) -> Team:
    made: Team = await db.write(Team)
    return made


async def test_what_is_added_is_read_back(db: Database, team: Team) -> None:
    tokens = ThemeTokens(light={"primary": "red"}, dark={})
    files = [ScreenFile(path="app/page.tsx", description="The page")]
    screen_id = await db.write(
        make_screen,
        team,
        theme="custom",
        theme_tokens=tokens.model_dump(),
        files=[file.model_dump() for file in files],
        problems=["wrong"],
    )
    data = await db.read(store.screen_data, screen_id)
    assert (data.theme_tokens, data.files, data.problems) == (tokens, files, ["wrong"])
    assert (data.x, data.y, data.width, data.height) == (1, 2, 300, 400)
    assert (data.state, data.sandbox_id, data.picture_id) == ("problems", None, None)
    for find, key in ((store.screen_of_thread, "thread_id"), (store.screen_of_workspace, "workspace_id")):
        row = await db.read(find, getattr(data, key))
        assert row is not None
        assert row.id == screen_id
    assert await db.read(store.screen_of_thread, team.thread_id) is None


async def test_a_screen_that_is_not_there_is_not_found(db: Database) -> None:
    for read in (store.screen_of, store.hold, store.screen_data, store.announce):
        with pytest.raises(NotFound):
            await db.write(read, "scr_none")


async def test_a_long_canvas_is_read_in_pages(db: Database, team: Team) -> None:
    made = [await db.write(make_screen, team) for _ in range(5)]
    other = await db.write(Team)
    await db.write(make_screen, other)
    seen: list[str] = []
    after = None
    while True:
        items, after = await db.read(store.list_screens, team.project_id, after, 2)
        seen += [item.id for item in items]
        if after is None:
            break
    assert seen == sorted(made)


async def test_what_a_thread_does_is_told_of_its_screen(db: Database, team: Team) -> None:
    screen_id = await db.write(make_screen, team)
    data = await db.read(store.screen_data, screen_id)

    def work(tx: Tx) -> None:
        set_run_state(tx, data.thread_id, "generating", "run_1")
        announce_thread(tx, data.thread_id)

    await db.write(work)
    await db.write(announce_thread, team.thread_id)
    told = [event for event in await news(db, team) if event["event"] == "screen.updated"]
    assert [event["data"]["screen"]["state"] for event in told] == ["working"]
    assert told[0]["data"]["screen"] == (await db.read(store.screen_data, screen_id)).model_dump(mode="json")
    assert told[0]["data"]["by"] is None


async def test_its_newest_sandbox_is_a_screens_also_when_it_is_gone(db: Database, team: Team) -> None:
    screen_id = await db.write(make_screen, team)
    workspace_id = (await db.read(store.screen_data, screen_id)).workspace_id
    made = [
        await db.write(add_sandbox, team.project_id, workspace_id, state, state != "ready")
        for state in ("killed", "lost", "ready")
    ]
    assert (await db.read(store.screen_data, screen_id)).sandbox_id == max(made)


async def test_a_deleted_screen_is_told_once(db: Database, team: Team) -> None:
    screen_id = await db.write(make_screen, team)
    await db.write(store.delete, screen_id)
    await db.write(store.delete, screen_id)
    told = [event["data"] for event in await news(db, team) if event["event"] == "screen.deleted"]
    assert told == [{"screen_id": screen_id}]
    assert await db.read(store.boxes, team.project_id) == []


def add_sandbox(tx: Tx, /, project_id: str, workspace_id: str, state: str, ended: bool) -> str:
    sandbox_id = new_id("sandbox")
    row = {"id": sandbox_id, "workspace_id": workspace_id, "project_id": project_id, "state": state}
    moments = {"created_at": tx.now, "last_used_at": tx.now, "ended_at": tx.now if ended else None}
    tx.execute(sa.insert(sandboxes).values(**row, **moments, provider="local"))
    return sandbox_id


async def news(db: Database, team: Team) -> list[dict[str, Any]]:
    return [orjson.loads(line) for _, line in await db.read(read_all, team.project_id)]

"""Versions of pages on both databases: changes, going back in time, steps that are taken back, trimming."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from outlast.apps.pages import store, versions
from outlast.apps.pages.shapes import Patch
from outlast.apps.pages.tree_cache import LiveTrees
from outlast.apps.pages.versions import Author, Rules, Taken
from outlast.base.errors import MalformedInput, NotFound, NothingToUndo
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.sandboxes.tables import workspaces
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.subjects.subject import NewSubject
from tests.factories import Team, make_thread

FIRST = '<h1 id="title">Issues</h1><p id="count">0</p><ul id="list"></ul>'


def make_page(tx: Tx, /, team: Team, **fields: Any) -> str:
    page_id, workspace_id = new_id("page"), new_id("workspace")
    anchor = {"type": "page", "id": page_id}
    thread_id = make_thread(tx, team.project_id, team.owner, profile="page", anchor=anchor)
    owner = {"owner_type": "page", "owner_id": page_id, "project_id": team.project_id}
    tx.insert(workspaces, id=workspace_id, **owner, created_at=tx.now, last_used_at=tx.now)
    given: dict[str, Any] = {
        "id": page_id,
        "project_id": team.project_id,
        "created_by": team.owner.user_id,
        "thread_id": thread_id,
        "workspace_id": workspace_id,
        "title": "Issues",
        "named": False,
    }
    store.add(tx, NewSubject(**{**given, **fields}))
    return page_id


class Page:
    """A page with its rules, changed one transaction at a time."""

    def __init__(self, db: Database, team: Team, page_id: str, **rules: int) -> None:
        self.db, self.team, self.id = db, team, page_id
        self.rules = Rules(LiveTrees(), **rules)

    async def full(self, html: str, run: str = "run_1", step: int = 0) -> Taken:
        author = Author(run, step, self.team.owner.user_id)
        return await self.db.write(versions.take_full, self.id, self.rules, html, author)

    async def patch(self, *patches: Patch, run: str = "run_1", step: int = 0) -> Taken:
        author = Author(run, step, self.team.owner.user_id)
        return await self.db.write(versions.take_patches, self.id, self.rules, patches, author)

    async def text(self, text: str, run: str = "run_1", step: int = 0) -> Taken:
        return await self.patch(Patch(op="text", at="#count", text=text), run=run, step=step)

    async def reset(self, run: str, step: int) -> tuple[Any, ...]:
        return await self.db.write(versions.reset_step, self.id, run, step)

    async def undo(self) -> int:
        return await self.db.write(versions.undo, self.id, self.rules, self.team.owner.user_id)

    async def restore(self, version: int) -> int:
        return await self.db.write(versions.restore, self.id, self.rules, version, self.team.owner.user_id)

    async def at(self, version: int) -> str:
        return await self.db.read(versions.html_at, self.id, version)

    async def now(self) -> tuple[int, str]:
        row = await self.db.read(store.page_of, self.id)
        return row.version, row.html

    async def count(self) -> str:
        _, html = await self.now()
        return html.partition('id="count">')[2].partition("<")[0]

    async def told(self) -> list[dict[str, Any]]:
        row = await self.db.read(store.page_of, self.id)
        lines = await self.db.read(read_all, row.thread_id)
        return [event for _, line in lines if (event := orjson.loads(line))["event"].startswith("page.")]


@pytest.fixture
async def team(db: Database) -> Team:
    made: Team = await db.write(Team)
    return made


@pytest.fixture
async def page(db: Database, team: Team) -> Page:
    return Page(db, team, await db.write(make_page, team))


async def test_each_taken_line_makes_the_next_version_and_tells_what_clients_apply(page: Page) -> None:
    made = await page.full(FIRST)
    assert (made.version, made.replaced, [name for name, _ in made.events]) == (1, 1, ["page.html"])
    changed = await page.text("3")
    ((name, told),) = changed.events
    assert (name, told.base_version, told.version, changed.patches) == ("page.patch", 1, 2, 1)
    assert told.patches == [Patch(op="text", at="#count", text="3")]
    assert await page.now() == (2, FIRST.replace(">0<", ">3<"))


async def test_patches_that_do_not_fit_are_refused_one_by_one_and_said(page: Page) -> None:
    await page.full(FIRST)
    good, bad = Patch(op="text", at="#count", text="1"), Patch(op="text", at="#cuont", text="2")
    taken = await page.patch(bad, good)
    assert (taken.version, taken.patches, taken.refused) == (2, 1, 1)
    assert "no element on the page has the id cuont (there is #count)" in taken.problems[0]
    nothing = await page.patch(bad)
    assert (nothing.version, nothing.events, nothing.refused) == (2, (), 1)


async def test_a_change_that_makes_the_page_too_large_is_refused_whole(db: Database, team: Team) -> None:
    page = Page(db, team, await db.write(make_page, team), html_bytes=1000)
    await page.full(FIRST)
    much = Patch(op="append", at="page", html="<p>x</p>" * 200)
    taken = await page.patch(Patch(op="text", at="#count", text="9"), much)
    assert (taken.version, taken.events, taken.refused) == (1, (), 2)
    assert "at most 1,000 are allowed" in taken.problems[0]
    assert await page.count() == "0"
    assert (await page.text("1")).version == 2
    refused = await page.full("<p>x</p>" * 200)
    assert (refused.version, refused.refused) == (2, 1)


async def test_every_version_can_be_read_again(page: Page) -> None:
    await page.full(FIRST)
    was = {0: "", 1: FIRST}
    for number in range(60):
        item = Patch(op="append", at="#list", html=f'<li id="i{number}">A &amp; {number}')
        taken = await page.patch(item, Patch(op="text", at="#count", text=str(number)), step=number)
        was[taken.version] = (await page.now())[1]
    assert {version: await page.at(version) for version in was} == was
    with pytest.raises(NotFound):
        await page.at(62)


async def test_a_step_that_is_asked_again_leaves_the_versions_as_they_were_before(page: Page) -> None:
    await page.full(FIRST, step=0)
    before = await page.now(), await page.db.read(versions.list_versions, page.id, None, 100)
    for number in range(30):
        await page.text(str(number), step=1)
    ((name, told),) = await page.reset("run_1", 1)
    assert (name, told.version, told.reason, told.html) == ("page.html", 1, "reset", FIRST)
    assert (await page.now(), await page.db.read(versions.list_versions, page.id, None, 100)) == before
    assert await page.reset("run_1", 1) == ()
    assert (await page.text("again", step=1)).version == 2
    assert await page.at(2) == FIRST.replace(">0<", ">again<")


async def test_a_tree_of_a_version_that_was_taken_back_is_not_used_again(page: Page) -> None:
    await page.full(FIRST, step=0)
    await page.patch(Patch(op="remove", at="#title"), step=1)
    await page.reset("run_1", 1)
    await page.text("1", step=1)
    assert await page.now() == (2, FIRST.replace(">0<", ">1<"))


async def test_undo_takes_back_the_last_run_then_the_one_before(page: Page) -> None:
    await page.full(FIRST, "run_1")
    await page.text("1", "run_1", 1)
    await page.text("2", "run_2", 0)
    await page.text("3", "run_2", 1)
    assert (await page.undo(), await page.count()) == (5, "1")
    told = (await page.told())[-1]
    assert (told["event"], told["data"]["reason"], told["data"]["version"]) == ("page.html", "undo", 5)
    assert (await page.undo(), await page.now()) == (6, (6, ""))
    with pytest.raises(NothingToUndo):
        await page.undo()


async def test_a_run_after_an_undo_is_taken_back_to_what_the_undo_made(page: Page) -> None:
    await page.full(FIRST, "run_1")
    await page.text("2", "run_2")
    await page.undo()
    await page.text("3", "run_3")
    await page.undo()
    assert await page.now() == (5, FIRST)
    await page.undo()
    assert await page.now() == (6, "")


async def test_an_earlier_version_is_restored_as_a_new_one_and_that_is_undone(page: Page) -> None:
    await page.full(FIRST, "run_1")
    await page.text("1", "run_2")
    await page.text("2", "run_3")
    assert (await page.restore(1), await page.count()) == (4, "0")
    assert await page.restore(4) == 4
    assert (await page.undo(), await page.count()) == (5, "2")
    assert [told["data"]["reason"] for told in await page.told()] == ["restore", "undo"]
    with pytest.raises(NotFound):
        await page.restore(99)


async def test_the_making_of_a_page_cannot_be_undone(page: Page) -> None:
    await page.db.write(versions.begin, page.id, page.rules, FIRST, by=page.team.owner.user_id)
    assert await page.now() == (1, FIRST)
    with pytest.raises(NothingToUndo):
        await page.undo()


async def test_html_that_no_page_can_be_is_refused_where_a_person_gives_it(db: Database, team: Team) -> None:
    page = Page(db, team, await db.write(make_page, team), html_bytes=1000)
    with pytest.raises(MalformedInput, match="at most 1,000"):
        await db.write(versions.begin, page.id, page.rules, "x" * 2000)


async def test_old_versions_go_and_those_that_stay_can_all_be_read(db: Database, team: Team) -> None:
    page = Page(db, team, await db.write(make_page, team), versions=10)
    await page.full(FIRST, "run_0")
    for number in range(70):
        await page.text(str(number), f"run_{number + 1}")
    rows, _ = await db.read(versions.list_versions, page.id, None, 100)
    assert [row.version for row in rows] == list(range(71, 49, -1))
    assert [f">{row.version - 2}<" in await page.at(row.version) for row in rows] == [True] * len(rows)
    with pytest.raises(NotFound):
        await page.at(49)
    with pytest.raises(NotFound):
        await page.at(0)


async def test_a_step_is_taken_back_also_when_it_made_more_versions_than_are_kept(db: Database, team: Team) -> None:
    page = Page(db, team, await db.write(make_page, team), versions=10)
    await page.full(FIRST, "run_0")
    for number in range(60):
        await page.text(str(number), "run_1", 3)
    await page.reset("run_1", 3)
    assert await page.now() == (1, FIRST)


async def test_the_history_is_given_newest_first_in_pages_with_a_line_for_each(page: Page) -> None:
    await page.full(FIRST, "run_1")
    await page.text("1", "run_2", 4)
    await page.undo()
    first, following = await page.db.read(versions.list_versions, page.id, None, 2)
    assert [(row.version, row.kind, row.base_version, row.summary) for row in first] == [
        (3, "undo", 1, "Went back to version 1"),
        (2, "patches", 1, "1 change at #count"),
    ]
    rest, end = await page.db.read(versions.list_versions, page.id, following, 2)
    assert ([row.kind for row in rest], end) == (["full"], None)
    one = await page.db.read(versions.version_of, page.id, 2)
    assert (one.run_id, one.by, one.patches) == ("run_2", page.team.owner.user_id, 1)

"""Rows of pages, their links and what was done on them, on both databases."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from outlast.apps.pages import link_store as links
from outlast.apps.pages import store
from outlast.apps.pages import user_action_store as actions
from outlast.apps.pages.tables import page_links, page_versions
from outlast.apps.pages.tree_cache import LiveTrees
from outlast.apps.pages.versions import Author, Rules, take_full
from outlast.base.errors import NotFound
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.secrets import hash_of
from outlast.kernel.projects.tables import projects
from outlast.kernel.sandboxes.seeds import new_workspace
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.subjects.subject import NewSubject
from outlast.kernel.threads.store import add_thread
from outlast.kernel.threads.tables import threads
from tests.factories import Team


def make(tx: Tx, /, title: str = "Issues") -> tuple[Team, str]:
    """A page of a new team: the team, the page's id."""
    team, page_id = Team(tx), new_id("page")
    anchor = {"type": "page", "id": page_id}
    thread_id = add_thread(tx, team.project_id, team.owner.user_id, profile="page", anchor=anchor)
    workspace_id = new_workspace(tx, None, ("page", page_id), project_id=team.project_id, thread_id=thread_id)
    new = NewSubject(
        id=page_id,
        project_id=team.project_id,
        thread_id=thread_id,
        workspace_id=workspace_id,
        title=title,
        named=False,
        created_by=team.owner.user_id,
    )
    store.add(tx, new)
    return team, page_id


async def test_what_is_added_is_read_back_and_listed_without_html(db: Database):
    team, page_id = await db.write(make)
    rules = Rules(LiveTrees())
    await db.write(take_full, page_id, rules, "<p>one</p>", Author(by=team.owner.user_id))
    data = await db.read(store.page_data, page_id)
    assert (data.title, data.html, data.version, data.state) == ("Issues", "<p>one</p>", 1, "ready")
    listed, more = await db.read(store.list_pages, team.project_id, None, 10)
    assert (listed, more) == ([data.model_copy(update={"html": ""})], None)
    row = await db.read(store.page_of_thread, data.thread_id)
    assert row is not None
    assert row.id == page_id
    assert await db.read(store.page_of_workspace, "wsp_none") is None
    with pytest.raises(NotFound):
        await db.read(store.page_data, "pag_none")


async def test_a_page_is_told_in_its_project_without_its_html(db: Database):
    team, page_id = await db.write(make)
    await db.write(take_full, page_id, Rules(LiveTrees()), "<p>secret words</p>", Author())
    await db.write(store.announce, page_id, by=team.owner.user_id)
    lines = [line for _, line in await db.read(read_all, team.project_id) if b"page.updated" in line]
    assert len(lines) == 1
    assert b"secret words" not in lines[0]


async def test_the_version_at_a_moment_is_the_last_one_before_it_or_the_oldest_kept(db: Database):
    _, page_id = await db.write(make)
    rules = Rules(LiveTrees())
    for number in range(3):
        await db.write(take_full, page_id, rules, f"<p>{number}</p>", Author())

    def spread(tx: Tx) -> None:
        for version in (1, 2, 3):
            where = {"page_id": page_id, "version": version}
            tx.update(page_versions, where, created_at=tx.now - timedelta(hours=4 - version))

    await db.write(spread)

    def at(tx: Tx, hours: float) -> int | None:
        return store.version_at(tx, page_id, tx.now - timedelta(hours=hours))

    assert [await db.read(at, hours) for hours in (5, 2.5, 1.5, 0)] == [None, 1, 2, 3]
    await db.write(lambda tx: tx.execute(sa.delete(page_versions).where(page_versions.c.version == 1)))
    assert await db.read(at, 5) == 2


async def test_a_link_opens_its_page_until_it_is_over_and_only_its_hash_is_kept(db: Database):
    team, page_id = await db.write(make)

    def link(tx: Tx, days: int | None) -> links.NewLink:
        until = None if days is None else tx.now + timedelta(days=days)
        return links.add_link(tx, store.page_of(tx, page_id), team.owner.user_id, "wiki", until)

    kept, short = await db.write(link, None), await db.write(link, 1)
    assert (await db.read(links.opened, kept.secret)).page.id == page_id
    assert [one.id for one in await db.read(links.list_links, page_id)] == [short.link.id, kept.link.id]
    hashes = await db.read(lambda tx: set(tx.execute(sa.select(page_links.c.hash)).scalars()))
    assert hashes == {hash_of(kept.secret), hash_of(short.secret)}

    def end(tx: Tx) -> None:
        tx.update(page_links, {"id": short.link.id}, expires_at=tx.now)
        links.revoke(tx, page_id, kept.link.id)

    await db.write(end)
    for secret in (kept.secret, short.secret, "olp_wrong", ""):
        with pytest.raises(NotFound):
            await db.read(links.opened, secret)
    assert await db.read(links.list_links, page_id) == []


async def test_actions_are_told_in_the_order_in_which_they_were_done(db: Database):
    team, page_id = await db.write(make)

    def act(tx: Tx) -> list[str]:
        page = store.page_of(tx, page_id)
        names = [f"a{number}" for number in range(5)]
        for name in names:
            actions.add(tx, page, name, {"n": 1}, user_id=team.editor.user_id, run_id="run_1", state="waiting")
        return names

    names = await db.write(act)
    assert [row.action.name for row in await db.read(actions.open_of_run, "run_1")] == names
    assert await db.read(actions.count_waiting, page_id) == 5
    thread_id = (await db.read(store.page_of, page_id)).thread_id
    for _ in range(2):  # repeating is harmless
        await db.write(actions.PageRuns().on_take_up, thread_id, "run_1")
    await db.write(actions.PageRuns().on_end, thread_id, "run_1", "completed", [], begun=True)
    lines = [line for _, line in await db.read(read_all, thread_id) if b"page.action" in line]
    told = [(line.split(b'"name":"')[1][:2], line.split(b'"state":"')[1][:4]) for line in lines]
    each = [name.encode() for name in names]
    assert told == [(name, state) for state in (b"wait", b"take", b"done") for name in each]
    found, more = await db.read(actions.list_actions, page_id, None, None, 2)
    assert [one.name for one in found] == ["a4", "a3"]
    assert more is not None


async def test_a_project_or_thread_that_goes_takes_the_page_with_all_that_is_its_own(db: Database):
    for table in (projects, threads):
        team, page_id = await db.write(make)
        thread_id = (await db.read(store.page_of, page_id)).thread_id
        await db.write(take_full, page_id, Rules(LiveTrees()), "<p>one</p>", Author())
        await db.write(remove, table, team.project_id if table is projects else thread_id)
        with pytest.raises(NotFound):
            await db.read(store.page_of, page_id)
        assert await db.read(count_versions, page_id) == 0


def remove(tx: Tx, table: sa.Table, row_id: str) -> None:
    tx.execute(sa.delete(table).where(table.c.id == row_id))


def count_versions(tx: Tx, page_id: str) -> int:
    mine = sa.select(sa.func.count()).where(page_versions.c.page_id == page_id)
    return int(tx.execute(mine).scalar_one())

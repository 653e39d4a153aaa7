"""Pages by link: what whoever has the secret sees, in step with the page, until the link is no good any more."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from outlast.apps.pages import store
from outlast.apps.pages.embeds.page_links import PageLinks
from outlast.apps.pages.link_actions import create_link, revoke_link
from outlast.apps.pages.shapes import PageHtml, PagePatched, Patch
from outlast.base.errors import NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.projects.rules import Role
from outlast.kernel.projects.store import change_role
from outlast.kernel.streams.log_store import append
from tests.flow.pages.rig import PageStage, page_stage


async def link_to(it: PageStage) -> str:
    return (await create_link(it.services, it.owner, it.page.id)).secret


async def change(it: PageStage, version: int, html: str, patches: list[Patch] | None = None) -> None:
    """The page as it is after something changed it, and what followers of its thread are told."""

    def run(tx: Tx) -> None:
        store.update(tx, it.page.id, version=version, html=html)
        told: Any = (
            ("page.html", PageHtml(page_id=it.page.id, version=version, html=html, reason="reset"))
            if patches is None
            else (
                "page.patch",
                PagePatched(page_id=it.page.id, base_version=version - 1, version=version, patches=patches),
            )
        )
        append(tx, it.thread_id, [told])

    await it.services.db.write(run)


class Following:
    """Somebody who looks at the page by a link."""

    def __init__(self, chunks: AsyncGenerator[bytes]) -> None:
        self._chunks = chunks

    async def next(self) -> dict[str, Any]:
        chunk = await anext(self._chunks)
        assert chunk.startswith(b"data: ")
        found: dict[str, Any] = orjson.loads(chunk[6:])
        return found


@asynccontextmanager
async def following(it: PageStage, secret: str, seen: str = "") -> AsyncIterator[Following]:
    async with aclosing(await PageLinks(it.services).follow(it.page.id, secret, seen)) as chunks:
        yield Following(chunks)


COUNT = [Patch(op="text", at="#count", text="1")]


async def test_a_follower_gets_the_page_whole_and_then_each_change(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        await change(it, 1, '<b id="count">0</b>')
        secret = await link_to(it)
        async with following(it, secret) as stream:
            assert await stream.next() == {"version": 1, "html": '<b id="count">0</b>', "title": "Issues"}
            await change(it, 2, '<b id="count">1</b>', COUNT)
            assert await stream.next() == {
                "base": 1,
                "version": 2,
                "patches": [{"op": "text", "at": "#count", "text": "1"}],
            }
            await change(it, 1, '<b id="count">0</b>')  # a cut step was taken back
            assert (await stream.next())["version"] == 1
            await change(it, 2, '<b id="count">1</b>', COUNT)
            assert (await stream.next())["base"] == 1


async def test_who_has_the_page_as_it_is_gets_only_what_comes(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        await change(it, 1, '<b id="count">0</b>')
        secret = await link_to(it)
        seen = (await PageLinks(it.services).open(it.page.id, secret)).mark
        async with following(it, secret, seen) as stream:
            await change(it, 2, '<b id="count">1</b>', COUNT)
            assert (await stream.next()).get("base") == 1


async def test_a_gap_is_answered_with_the_whole_page(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        secret = await link_to(it)
        async with following(it, secret) as stream:
            assert (await stream.next())["version"] == 0
            await change(it, 5, '<b id="count">1</b>', COUNT)
            assert await stream.next() == {"version": 5, "html": '<b id="count">1</b>', "title": "Issues"}


async def test_nothing_but_the_page_is_told(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        secret = await link_to(it)
        async with following(it, secret) as stream:
            await stream.next()
            await it.start('{"event":"page.patch"} "event":"page.patch" is only what somebody wrote')
            await it.act("refresh", data={"event": "page.html"})
            await change(it, 1, "<p>Done</p>")
            assert set(await stream.next()) == {"version", "html", "title"}


async def test_a_link_shows_its_own_page_until_it_is_revoked(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        made = await create_link(it.services, it.owner, it.page.id)
        assert await PageLinks(it.services).is_good(it.page.id, made.secret)
        for page_id, secret in ((it.page.id, f"{made.secret}x"), ("pag_other", made.secret), (it.page.id, "")):
            assert not await PageLinks(it.services).is_good(page_id, secret)
        await revoke_link(it.services, it.owner, it.page.id, made.link.id)
        assert not await PageLinks(it.services).is_good(it.page.id, made.secret)
        with pytest.raises(NotFound):
            await PageLinks(it.services).open(it.page.id, made.secret)
        with pytest.raises(NotFound):
            await PageLinks(it.services).follow(it.page.id, made.secret, "")


async def test_a_link_ends_when_its_maker_may_not_change_the_page_any_more(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        made = await create_link(it.services, it.team.editor, it.page.id)
        assert await PageLinks(it.services).is_good(it.page.id, made.secret)
        await db.write(change_role, it.project_id, it.team.editor.user_id, Role.VIEWER)
        assert not await PageLinks(it.services).is_good(it.page.id, made.secret)

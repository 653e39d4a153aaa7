"""Screens changed by several at the same moment, on both databases."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import pytest

from outlast.apps.screens.actions import change_screen, create_screen, delete_screen, list_screens, move_screens
from outlast.apps.screens.copies import duplicate_screen
from outlast.apps.screens.placement import Box, overlap
from outlast.apps.screens.shapes import MoveRequest, ScreenPatch, ScreenRequest
from outlast.base.errors import NotFound
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.database import Database
from outlast.kernel.sandboxes.seeds import Seeds
from outlast.kernel.services import Services
from outlast.kernel.threads.actions import rename_thread
from tests.factories import Team, make_services
from tests.templates import small_templates


@pytest.fixture
async def team(db: Database) -> Team:
    made: Team = await db.write(Team)
    return made


@pytest.fixture
def services(db: Database, tmp_path: Path) -> Services:
    blobs = FolderBlobs(tmp_path / "blobs")
    return make_services(db, tmp_path, blobs=blobs, seeds=Seeds(blobs, small_templates()))


async def together(*calls: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async with anyio.create_task_group() as tasks:
        for call in calls:
            tasks.start_soon(call)


async def test_screens_made_and_copied_at_once_find_places_of_their_own(services: Services, team: Team):
    first = await create_screen(services, team.editor, team.project_id, ScreenRequest())

    async def make() -> None:
        await create_screen(services, team.editor, team.project_id, ScreenRequest())

    async def copy() -> None:
        await duplicate_screen(services, team.owner, first.id)

    await together(make, copy, make, copy, make)
    found = (await list_screens(services, team.viewer, team.project_id)).items
    boxes = [Box(one.x, one.y, one.width, one.height) for one in found]
    assert len(boxes) == 6
    assert not any(overlap(a, b) for a in boxes for b in boxes if a is not b)


async def test_one_key_makes_one_screen_however_many_ask_at_once(services: Services, team: Team):
    async def make() -> None:
        await create_screen(services, team.editor, team.project_id, ScreenRequest(), key="once")

    await together(make, make, make)
    assert len((await list_screens(services, team.viewer, team.project_id)).items) == 1


async def test_whoever_moves_renames_and_deletes_at_once_gets_in_nobodys_way(services: Services, team: Team):
    one = await create_screen(services, team.editor, team.project_id, ScreenRequest())
    two = await create_screen(services, team.editor, team.project_id, ScreenRequest())

    async def move(*ids: str) -> None:
        try:
            moves = [MoveRequest(id=screen_id, x=5, y=6) for screen_id in ids]
            await move_screens(services, team.editor, team.project_id, moves)
        except NotFound:
            return

    async def retitle() -> None:
        try:
            await change_screen(services, team.editor, two.id, ScreenPatch(title="Shop"))
            await rename_thread(services, team.owner, two.thread_id, "Store")
        except NotFound:
            return

    async def delete() -> None:
        await delete_screen(services, team.owner, two.id)

    await together(lambda: move(one.id, two.id), retitle, lambda: move(two.id, one.id), delete, lambda: move(one.id))
    [left] = (await list_screens(services, team.viewer, team.project_id)).items
    assert (left.id, left.x, left.y) == (one.id, 5, 6)

"""Pictures of other hosts in screens: blocked, asked for, allowed by a member, listed and removed."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

from outlast.apps.screens import image_host_actions as actions
from outlast.apps.screens.image_hosts import MAX_HOSTS
from outlast.apps.screens.tables import screens
from outlast.base.errors import Forbidden, MalformedInput, NotFound
from outlast.db.database import Tx
from outlast.kernel.streams.log_store import read_all
from tests.flow.preview.rig import PORT, Scene
from tests.store.apps.screens.test_store import make_screen

HOST = "images.example.org"


def build_screen(tx: Tx, scene: Scene) -> str:
    """A screen whose files lie in the scene's workspace."""
    screen_id = make_screen(tx, scene.team)
    tx.execute(sa.update(screens).where(screens.c.id == screen_id).values(workspace_id=scene.machines.row.workspace_id))
    return screen_id


@pytest.fixture
async def screen_id(scene: Scene) -> str:
    made: str = await scene.services.db.write(build_screen, scene)
    return made


async def report(scene: Scene, cookie: str, address: str, directive: str = "img-src", **headers: str) -> int:
    body = json.dumps({"csp-report": {"effective-directive": directive, "blocked-uri": address}})
    own = {"content_type": "application/csp-report", "origin": f"http://{scene.host}", **headers}
    return (await scene.call("POST", "/.outlast/reports", cookie, body, **own)).status


async def pictures(scene: Scene, cookie: str) -> str:
    """What the policy of a visit says of pictures."""
    policy = (await scene.get("/", cookie)).headers["content-security-policy"]
    return next(part.strip() for part in policy.split(";") if part.strip().startswith("img-src"))


async def test_a_blocked_picture_is_asked_for_once_and_loads_once_a_member_allows_its_host(
    scene: Scene, screen_id: str
):
    services, editor = scene.services, scene.team.editor
    cookie = await scene.cookie(editor)
    assert await pictures(scene, cookie) == "img-src 'self' data: blob:"
    for _ in range(3):
        assert await report(scene, cookie, f"https://{HOST}/a.png") == 204
    asked = await actions.list_image_hosts(services, scene.team.viewer, screen_id)
    assert [(one.host, one.allowed_at) for one in asked] == [(HOST, None)]
    events = await services.db.read(read_all, scene.team.project_id)
    assert sum(b'"screen.updated"' in line for _, line in events) == 1
    allowed = await actions.allow_image_host(services, editor, screen_id, HOST)
    assert [(one.host, one.allowed_by) for one in allowed] == [(HOST, editor.user_id)]
    assert await pictures(scene, cookie) == f"img-src 'self' data: blob: {HOST}"
    await actions.remove_image_host(services, editor, screen_id, HOST)
    assert await pictures(scene, cookie) == "img-src 'self' data: blob:"
    with pytest.raises(NotFound):
        await actions.remove_image_host(services, editor, screen_id, HOST)


async def test_reports_of_strangers_of_other_pages_and_of_other_things_ask_for_nothing(scene: Scene, screen_id: str):
    cookie = await scene.cookie(scene.team.editor)
    address = f"https://{HOST}/a.png"
    assert await report(scene, "", address) == 204
    assert await report(scene, cookie, address, origin="https://evil.example") == 204
    assert await report(scene, cookie, address, directive="connect-src") == 204
    assert await report(scene, cookie, "https://127.0.0.1/a.png") == 204
    assert await report(scene, cookie, "x" * 100_000) == 204
    assert await actions.list_image_hosts(scene.services, scene.team.editor, screen_id) == []


async def test_a_screen_asks_for_so_many_hosts_and_no_more(scene: Scene, screen_id: str):
    services, editor = scene.services, scene.team.editor
    workspace_id = scene.machines.row.workspace_id
    many = [f"https://h{number}.example.org/" for number in range(MAX_HOSTS + 10)]
    await actions.ScreenImageHosts().report_blocked(services, workspace_id, many)
    assert len(await actions.list_image_hosts(services, editor, screen_id)) == MAX_HOSTS
    with pytest.raises(MalformedInput, match="at most"):
        await actions.allow_image_host(services, editor, screen_id, "one-more.example.org")


async def test_viewers_see_the_list_and_change_nothing(scene: Scene, screen_id: str):
    services, viewer = scene.services, scene.team.viewer
    with pytest.raises(Forbidden):
        await actions.allow_image_host(services, viewer, screen_id, HOST)
    with pytest.raises(Forbidden):
        await actions.remove_image_host(services, viewer, screen_id, HOST)
    assert await actions.list_image_hosts(services, viewer, screen_id) == []


async def test_the_sandbox_of_a_thread_asks_for_nothing(scene: Scene):
    await actions.ScreenImageHosts().report_blocked(
        scene.services, scene.machines.row.workspace_id, [f"https://{HOST}/"]
    )
    assert PORT == 3000

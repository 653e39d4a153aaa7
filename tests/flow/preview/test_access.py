"""Who may see a preview, and until when."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import aiohttp
import anyio
import pytest

from outlast.base.errors import Forbidden, NotFound
from outlast.db.database import Tx
from outlast.kernel.accounts import store as accounts
from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.previews import actions as previews
from outlast.kernel.previews.hosts import Address, PreviewHosts
from outlast.kernel.previews.preview_layer import PreviewLayer
from outlast.kernel.projects import store as projects
from outlast.kernel.projects.rules import Role
from outlast.kernel.sandboxes.services.rules import Declared
from outlast.kernel.sandboxes.services.store import declare
from tests.asgi import Browser
from tests.factories import make_user
from tests.flow.preview.conftest import Inside
from tests.flow.preview.rig import HOSTS, PORT, Scene

PAGE = {"sec_fetch_mode": "navigate", "sec_fetch_site": "none", "accept": "text/html"}


async def leave(scene: Scene, user_id: str) -> None:
    await scene.services.db.write(projects.remove_member, scene.team.project_id, user_id)


async def test_a_ticket_is_exchanged_once_for_a_cookie_and_leads_on(scene: Scene):
    ticket = await scene.ticket(scene.team.editor)
    first = await scene.get(f"/.outlast/ticket?ticket={ticket}&to=%2Fdocs%3Fa%3D1")
    assert (first.status, first.headers["location"]) == (303, "/docs?a=1")
    framed, plain = first.headers.getall("set-cookie")
    assert framed.startswith("__Host-outlast_preview=")
    assert framed.endswith("Path=/; Max-Age=604800; HttpOnly; Secure; SameSite=None; Partitioned")
    assert plain.endswith("Path=/; Max-Age=604800; HttpOnly; SameSite=Lax")
    assert "domain" not in (framed + plain).lower()
    again = await scene.get(f"/.outlast/ticket?ticket={ticket}", **PAGE)
    assert again.status == 401
    assert "already been used" in await again.text()
    reloaded = await scene.get(f"/.outlast/ticket?ticket={ticket}", plain.partition(";")[0])
    assert reloaded.status == 303


@pytest.mark.parametrize("target", ["//evil.example/", "/\\evil.example", "https://evil.example", "/.outlast/x", ""])
async def test_a_ticket_leads_nowhere_else(scene: Scene, target: str):
    ticket = await scene.ticket(scene.team.editor)
    answer = await scene.get(f"/.outlast/ticket?ticket={ticket}&to={target}")
    assert (answer.status, answer.headers["location"]) == (303, "/")


async def test_a_ticket_and_a_cookie_are_good_for_one_port_of_one_sandbox(scene: Scene):
    ticket = await scene.ticket(scene.team.editor, port=4000)
    assert (await scene.get(f"/.outlast/ticket?ticket={ticket}")).status == 401
    cookie = await scene.cookie(scene.team.editor)
    for address in (Address(4000, scene.box.sandbox_id), Address(PORT, "sbx_other")):
        answer = await scene.get("/", cookie, host=f"{HOSTS.format(address)}:{scene.server_port}")
        assert answer.status == 401


async def test_without_a_cookie_nothing_is_woken_and_the_way_in_is_shown(scene: Scene):
    scene.machines.sleep("frozen")
    page = await scene.get("/some/page", **PAGE)
    assert page.status == 401
    home = f"http://localhost:{scene.server_port}/previews/{scene.box.sandbox_id}/{PORT}?to="
    assert home in await page.text()
    program = await scene.get("/", "outlast_preview=made-up")
    assert (program.status, program.headers["content-type"]) == (401, "text/plain; charset=utf-8")
    assert scene.machines.asked == []
    assert scene.box.dialled == 0


async def test_strangers_get_no_ticket(scene: Scene):
    stranger = await scene.services.db.write(make_user, "Eve")
    with pytest.raises(NotFound):
        await scene.ticket(stranger)


async def test_leaving_the_project_ends_every_way_in(scene: Scene):
    viewer = scene.team.editor
    cookie, ticket = await scene.cookie(viewer), await scene.ticket(viewer)
    assert (await scene.get("/", cookie)).status == 200
    await leave(scene, viewer.user_id)
    assert (await scene.get("/", cookie)).status == 401
    assert (await scene.get(f"/.outlast/ticket?ticket={ticket}")).status == 401


async def test_leaving_the_project_ends_what_is_open(scene: Scene, inside: Inside):
    viewer = scene.team.editor
    cookie = await scene.cookie(viewer)
    events = await scene.get("/events", cookie)
    await events.content.readuntil(b"\n\n")
    socket = await scene.web_socket("/ws", cookie)
    await leave(scene, viewer.user_id)
    assert (await socket.receive()).type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSE)
    with pytest.raises(aiohttp.ClientError):
        await events.content.readuntil(b"\n\n")


async def test_others_stay_when_one_leaves(scene: Scene):
    cookie = await scene.cookie(scene.team.editor)
    socket = await scene.web_socket("/ws", cookie)
    await leave(scene, scene.team.viewer.user_id)
    await socket.send_str("still here")
    assert await socket.receive_str() == "heard still here"


async def test_signing_out_and_revoking_a_token_end_the_preview(scene: Scene):
    db, editor = scene.services.db, scene.team.editor
    made = await db.write(accounts.add_token, editor.user_id, "laptop", None)
    session = await db.write(accounts.add_session, editor.user_id, made.id, timedelta(days=1))
    by_session = await db.read(accounts.actor_for_session, session)
    by_token = await db.read(accounts.actor_for_token, made.token)
    assert by_session is not None
    assert by_token is not None
    one, two = await scene.cookie(by_session), await scene.cookie(by_token[0])
    await db.write(accounts.end_session, session)
    assert (await scene.get("/", one)).status == 401
    assert (await scene.get("/", two)).status == 200
    await db.write(accounts.revoke_token, editor.user_id, made.id)
    assert (await scene.get("/", two)).status == 401


async def test_a_sandbox_that_was_replaced_is_seen_under_its_old_name(scene: Scene):
    cookie = await scene.cookie(scene.team.editor)
    old = scene.box.sandbox_id
    scene.box.sandbox_id = "sbx_replaced"
    answer = await scene.get("/", cookie, host=f"{HOSTS.format(Address(PORT, old))}:{scene.server_port}")
    assert answer.status == 200


async def test_nobody_is_signed_in_by_being_near_on_a_preview(scene: Scene):
    """Local mode's owner is signed in on Outlast's own pages alone."""
    for path in ("/", "/v1/me", "/v1/projects", "/openapi.json"):
        assert (await scene.get(path, **PAGE)).status == 401


async def test_a_preview_is_a_foreign_origin_to_the_api(scene: Scene):
    made = await scene.services.db.write(accounts.add_token, scene.team.owner.user_id, "test", None)
    headers = {"authorization": f"Bearer {made.token}", "origin": f"http://{scene.host}"}
    answer = await Browser(scene.layer, headers).get("/v1/projects")
    assert (answer.status, answer.code) == (403, "origin_refused")


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("POST", {"origin": "https://evil.example"}),
        ("GET", {"origin": "http://localhost:8400"}),
        ("GET", {"sec_fetch_site": "same-site", "sec_fetch_mode": "no-cors"}),
        ("POST", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "origin": "null"}),
    ],
)
async def test_pages_of_others_cannot_use_a_members_preview(scene: Scene, method: str, headers: dict[str, str]):
    cookie = await scene.cookie(scene.team.editor)
    assert (await scene.call(method, "/", cookie, **headers)).status == 403


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("GET", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}),
        ("GET", {"sec_fetch_site": "same-origin", "sec_fetch_mode": "cors"}),
        ("POST", {"origin": "own"}),
        ("POST", {"origin": "other port"}),
        ("GET", {"sec_fetch_site": "same-site", "sec_fetch_mode": "no-cors", "referer": "other port"}),
    ],
)
async def test_its_own_pages_and_links_to_it_can(scene: Scene, method: str, headers: dict[str, str]):
    other = f"{HOSTS.format(Address(8000, scene.box.sandbox_id))}:{scene.server_port}"
    named = {"own": f"http://{scene.host}", "other port": f"http://{other}"}
    sent = {name: named.get(value, value) for name, value in headers.items()}
    cookie = await scene.cookie(scene.team.editor)
    assert (await scene.call(method, "/", cookie, **sent)).status == 200


async def test_a_web_socket_of_another_origin_is_refused(scene: Scene):
    cookie = await scene.cookie(scene.team.editor)
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await scene.web_socket("/ws", cookie, headers={"origin": "http://localhost:8400"})
    assert refused.value.status == 403


async def test_names_that_are_no_preview_lead_nowhere(scene: Scene):
    for name in ("preview.localhost", "x.preview.localhost", "99999-sbx-1.preview.localhost"):
        answer = await scene.get("/v1/me", host=f"{name}:{scene.server_port}")
        assert answer.status == 404
        assert "no preview here" in await answer.text()


async def test_tickets_hold_when_the_server_starts_again(scene: Scene):
    """They lie in the database; a new server's memory knows none of them."""
    ticket = await scene.ticket(scene.team.editor)
    value = await previews.redeem(scene.services, ticket, scene.box.sandbox_id, PORT, local_mode=False)
    assert value is not None
    assert (await scene.get("/", f"outlast_preview={value}")).status == 200


async def test_closing_ends_what_is_open(scene: Scene):
    socket = await scene.web_socket("/ws", await scene.cookie(scene.team.editor))
    scene.layer.close()
    with anyio.fail_after(60):
        assert (await socket.receive()).type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSE)


async def test_viewers_see_the_ports_of_declared_services_and_no_others(scene: Scene):
    # They could ask for any port: a debugger's, a database's.
    viewer, editor = scene.team.viewer, scene.team.editor
    with pytest.raises(Forbidden, match="declared services"):
        await scene.ticket(viewer)
    await scene.services.db.write(declare_web, scene)
    cookie = await scene.cookie(viewer)
    assert (await scene.get("/", cookie)).status == 200
    with pytest.raises(Forbidden):
        await scene.ticket(viewer, port=PORT + 1)
    await scene.ticket(editor, port=PORT + 1)


async def test_an_editor_who_becomes_a_viewer_sees_undeclared_ports_no_more(scene: Scene):
    editor = scene.team.editor
    cookie = await scene.cookie(editor)
    assert (await scene.get("/", cookie)).status == 200
    project_id, user_id = scene.team.project_id, editor.user_id
    await scene.services.db.write(projects.change_role, project_id, user_id, Role.VIEWER)
    assert (await scene.get("/", cookie)).status == 401


def declare_web(tx: Tx, scene: Scene) -> None:
    workspace_id = str(scene.machines.row.workspace_id)
    declare(tx, workspace_id, Declared(name="web", command="serve", port=PORT))


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("POST", {}, 403),
        ("POST", {"origin": "null"}, 403),
        ("PUT", {"origin": "http://3000-sbx-other.previews.example"}, 403),
        ("GET", {"upgrade": "websocket", "origin": "null"}, 403),
        ("POST", {"origin": "http://3000-sbx-mine.previews.example"}, 401),
        ("GET", {}, 401),
        ("GET", {"origin": "null"}, 401),
    ],
)
async def test_by_plain_http_under_a_real_name_a_change_has_to_say_where_it_comes_from(
    scene: Scene, method: str, headers: dict[str, str], status: int
):
    # Browsers send no Sec-Fetch headers there, and the plain cookie also from another sandbox's pages.
    surface = replace(scene.surface, previews=PreviewHosts("previews.example"))
    layer = PreviewLayer(scene.layer, surface, known_hosts("127.0.0.1", "", ()))
    answer = await Browser(layer).call(method, "/", headers={"host": "3000-sbx-mine.previews.example", **headers})
    assert answer.status == status

"""Every route of E2B's protocol as nobody, stranger, viewer, editor and owner; what is inside a sandbox, by its token.

No sandbox can run here: whoever gets past the permission is told that there are none (503)."""

from __future__ import annotations

import base64
import hashlib
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.tables import members
from outlast.kernel.sandboxes import hosted
from outlast.kernel.sandboxes.hosted import Hosted, HostedOrder
from outlast.kernel.sandboxes.tables import hosted_sandboxes
from outlast.surfaces.protocols.e2b import control, filesystem, processes
from outlast.surfaces.protocols.e2b.names import shown_id
from tests.asgi import Answer, Browser
from tests.factories import Team
from tests.flow.http.conftest import Site

ONE = [(method, path) for method, path, _ in control.ROUTES if "{sandbox_id}" in path]
OWN = [(method, path) for method, path, _ in control.ROUTES if "{" not in path]
STREAMS = (
    "/process.Process/Start",
    "/process.Process/Connect",
    "/process.Process/StreamInput",
    "/filesystem.Filesystem/WatchDir",
)
CALLS = [
    *(("POST", path) for path in STREAMS),
    *(("POST", f"/process.Process/{name}") for name in processes.UNARY),
    *(("POST", f"/filesystem.Filesystem/{name}") for name in filesystem.UNARY),
]
PLAIN = [
    ("GET", "/files?path=a"),
    ("POST", "/files?path=a"),
    *(("GET", path) for path in ("/health", "/metrics", "/envs", "/no")),
]


class Scene:
    """A team with a sandbox, made by its editor."""

    def __init__(self, tx: Tx) -> None:
        team = Team(tx)
        self.actors: dict[str, Actor] = team.by_role()
        ends_at = tx.now + timedelta(seconds=600)
        order = HostedOrder(timeout_s=600)
        workspace_id = hosted.add(tx, team.project_id, team.editor.user_id, order, ends_at)
        found = hosted.find(tx, workspace_id)
        assert found is not None
        self.hosted: Hosted = found
        self.id = shown_id(workspace_id)
        self.editor, self.project_id = team.editor, team.project_id

    def inside(self, **more: str) -> dict[str, str]:
        return {"e2b-sandbox-id": self.id, "x-access-token": self.hosted.access_token} | more


async def scene_of(site: Site) -> Scene:
    made: Scene = await site.services.db.write(Scene)
    return made


async def with_key(site: Site, actor: Actor) -> Browser:
    signed = await site.signed_in(actor)
    return Browser(signed.app, {"x-api-key": signed.headers["authorization"].removeprefix("Bearer ")})


async def knock(browser: Browser, method: str, path: str, scene: Scene) -> Answer:
    body: dict[str, Any] | None = {} if method in ("POST", "PUT") else None
    return await browser.call(method, f"/e2b{path.replace('{sandbox_id}', scene.id)}", body)


async def call(site: Site, method: str, path: str, headers: dict[str, str]) -> Answer:
    kind = "application/connect+json" if path in STREAMS else "application/json"
    kind = "application/octet-stream" if path.startswith("/files") else kind
    body = b"\0\0\0\0\x02{}" if path in STREAMS else b"{}" if method == "POST" else b""
    return await Browser(site.remote.app).call(method, path, body, headers={**headers, "content-type": kind})


def said(answer: Answer) -> str:
    """The word of a Connect error, or the status."""
    if answer.header("content-type").startswith("application/connect"):
        return str(Answer(body=answer.body[5:]).json()["error"]["code"])
    return str(answer.json()["code"]) if answer.body else str(answer.status)


@pytest.mark.parametrize(("method", "path"), ONE)
async def test_a_route_of_one_sandbox_lets_in_editors(site: Site, method: str, path: str):
    for role, expected in (("stranger", 404), ("viewer", 403), ("editor", None), ("owner", None)):
        scene = await scene_of(site)
        answer = await knock(await with_key(site, scene.actors[role]), method, path, scene)
        if expected is None:
            assert answer.status not in (401, 403, 404, 500), (role, answer.body)
        else:
            assert (answer.status, answer.json()["code"]) == (expected, expected), (role, answer.body)


@pytest.mark.parametrize(("method", "path"), OWN)
async def test_a_route_of_ones_own_sandboxes_lets_in_whoever_has_a_key(site: Site, method: str, path: str):
    scene = await scene_of(site)
    answer = await knock(await with_key(site, scene.actors["stranger"]), method, path, scene)
    assert answer.status in (200, 503), answer.body
    assert scene.id.encode() not in answer.body


@pytest.mark.parametrize(
    ("method", "path"),
    [*ONE, *OWN, ("DELETE", "/templates/x"), ("GET", "/templates/aliases/base"), ("GET", "/anything")],
)
async def test_no_route_is_open_without_a_key(site: Site, method: str, path: str):
    scene = await scene_of(site)
    for app in (site.remote.app, site.local.app):  # also on this very machine
        for headers in ({}, {"x-api-key": "ol_wrong"}, {"x-api-key": "e2b_00"}, {"cookie": "outlast_session=x"}):
            answer = await knock(Browser(app, headers), method, path, scene)
            assert (answer.status, answer.json()["code"]) == (401, 401), headers


def test_every_route_of_the_control_plane_is_tried():
    assert {(method, path) for method, path, _ in control.ROUTES} == {
        *ONE,
        *OWN,
        ("DELETE", "/templates/{template_id:path}"),
        ("GET", "/templates/aliases/{alias:path}"),
    }


async def test_a_snapshot_of_others_is_not_to_be_removed_or_told_of(site: Site):
    scene = await scene_of(site)
    browser = await with_key(site, scene.actors["stranger"])
    assert (await browser.call("DELETE", f"/e2b/templates/{scene.id}")).status == 404
    assert (await browser.call("GET", f"/e2b/templates/aliases/{scene.id}")).status == 404
    assert (await browser.call("GET", "/e2b/templates/aliases/base")).status == 200


@pytest.mark.parametrize(("method", "path"), [*CALLS, *PLAIN])
async def test_what_is_inside_opens_to_its_own_token_alone(site: Site, method: str, path: str):
    scene, other = await scene_of(site), await scene_of(site)
    right = scene.inside()
    for wrong in ({"x-access-token": ""}, {"x-access-token": "sat_no"}, {"x-access-token": other.hosted.access_token}):
        assert said(await call(site, method, path, right | wrong)) in ("401", "unauthenticated"), wrong
    assert said(await call(site, method, path, right | {"e2b-sandbox-id": "0" * 26})) in ("502", "unavailable")
    admitted = said(await call(site, method, path, right))
    assert admitted in ("503", "unavailable")


@pytest.mark.parametrize(("method", "path"), [*CALLS, *PLAIN])
async def test_what_is_inside_closes_when_its_maker_may_not_edit_any_more(site: Site, method: str, path: str):
    scene = await scene_of(site)
    mine = members.c.user_id == scene.editor.user_id, members.c.project_id == scene.project_id
    await site.services.db.write(lambda tx: tx.execute(sa.update(members).where(*mine), {"role": "viewer"}))
    assert said(await call(site, method, path, scene.inside())) in ("403", "permission_denied")
    await site.services.db.write(lambda tx: tx.execute(sa.delete(members).where(*mine)))
    assert said(await call(site, method, path, scene.inside())) in ("404", "not_found")


async def test_a_sandbox_that_sleeps_or_is_over_answers_as_one_that_is_gone(site: Site):
    asleep, over = await scene_of(site), await scene_of(site)
    await site.services.db.write(hosted.mark_paused, asleep.hosted.workspace_id)
    now = site.services.clock.now()
    mine = hosted_sandboxes.c.workspace_id == over.hosted.workspace_id
    await site.services.db.write(
        lambda tx: tx.execute(sa.update(hosted_sandboxes).where(mine).values(ends_at=now - timedelta(seconds=1)))
    )
    for scene in (asleep, over):
        answer = await call(site, "GET", "/health", scene.inside())
        assert (answer.status, b"was not found" in answer.body) == (502, True)


@pytest.mark.parametrize("named", [True, False])
async def test_a_signed_address_opens_one_path_for_one_way(site: Site, named: bool):
    scene = await scene_of(site)
    raw = f"a.txt:read::{scene.hosted.access_token}".encode()
    signature = "v1_" + base64.b64encode(hashlib.sha256(raw).digest()).decode().rstrip("=")
    query = f"signature={signature.replace('+', '%2B')}"
    headers = {"e2b-sandbox-id": scene.id} if named else {}
    assert (await call(site, "GET", f"/files?path=a.txt&{query}", headers)).status == 503
    for method, path in (("GET", "b.txt"), ("POST", "a.txt")):
        assert (await call(site, method, f"/files?path={path}&{query}", headers)).status == 401
    late = f"/files?path=a.txt&{query}&signature_expiration=1"
    assert (await call(site, "GET", late, headers)).json()["message"] == "signature is already expired"


async def test_there_is_no_other_user_inside(site: Site):
    scene = await scene_of(site)
    root = {"authorization": "Basic " + base64.b64encode(b"root:").decode()}
    assert said(await call(site, "POST", "/process.Process/List", scene.inside(**root))) == "unauthenticated"
    assert said(await call(site, "GET", "/files?path=a&username=root", scene.inside())) == "401"

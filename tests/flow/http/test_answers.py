"""What routes answer fits what the reference says they answer."""

from __future__ import annotations

import pytest
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from outlast.kernel.http.shapes import Problem
from outlast.kernel.http.stream_limits import StreamPlaces
from outlast.surfaces.http.api import all_routers
from tests.asgi import Browser
from tests.flow.http.conftest import Site
from tests.flow.http.test_permissions import TABLE, knock, new_scene

ROUTES = {
    f"{method} {route.path.replace(':path}', '}')}": route
    for router in all_routers()
    for route in router.routes
    if isinstance(route, APIRoute)
    for method in route.methods or ()
}


@pytest.mark.parametrize("route", [route for route in TABLE if ROUTES[route].response_model is not None])
async def test_an_answer_has_the_shape_that_the_reference_names(site: Site, route: str):
    scene = await new_scene(site)
    answer = await knock(site, scene, await site.signed_in(scene.actors["owner"]), route)
    model = Problem if answer.status >= 400 else ROUTES[route].response_model
    TypeAdapter(model).validate_json(answer.body)
    if answer.status < 400:
        assert answer.status == (ROUTES[route].status_code or 200)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/projects", {"name": ""}),
        ("/v1/projects", {"name": "x", "colour": "red"}),
        ("/v1/projects", {}),
        ("/v1/projects", b"{not json"),
        ("/v1/runs", {"content": "x", "on_busy": "wait"}),
        ("/v1/runs", {"parts": [{"type": "video", "url": "x"}]}),
        ("/v1/tokens", {"name": "x", "expires_in_days": -1}),
    ],
)
async def test_input_of_another_shape_is_refused_by_field(site: Site, path: str, body: object):
    headers = {"content-type": "application/json"} if isinstance(body, bytes) else {}
    answer = await site.local.call("POST", path, body, headers=headers)
    assert (answer.status, answer.code) == (400, "malformed_input")
    assert answer.json()["fields"]["errors"]


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/v1/nothing", 404, "not_found"),
        ("/v1/threads/thr_none", 404, "not_found"),
        ("/v1/runs/run_none/events", 404, "not_found"),
        ("/v1/runs?limit=0", 400, "malformed_input"),
        ("/v1/threads/thr_none/messages?before=99999999999999999999999", 400, "malformed_input"),
        ("/v1/runs?q=a%00b", 400, "malformed_input"),
        ("/assets/missing.js", 404, "not_found"),
    ],
)
async def test_what_is_not_there_is_told_as_a_problem(site: Site, path: str, status: int, code: str):
    answer = await site.local.get(path)
    assert (answer.status, answer.code) == (status, code)


async def test_a_message_of_the_queue_is_sent_without_content_of_its_own(site: Site):
    both = {"content": "Hello", "queued_run_id": "run_2"}
    answer = await site.local.call("POST", "/v1/runs/run_1/steer", both)
    assert (answer.status, answer.code) == (400, "malformed_input")


async def test_a_wrong_method_is_told_as_a_problem(site: Site):
    answer = await site.local.call("PUT", "/v1/me", {})
    assert (answer.status, answer.code) == (405, "malformed_input")


async def test_a_message_beyond_the_limit_is_refused_with_the_limit(site: Site):
    limits = site.services.settings.limits
    large = {"content": "x" * (limits.message_bytes + 1)}
    answer = await site.local.post("/v1/runs", large)
    assert (answer.status, answer.code) == (413, "input_too_large")
    huge = {"content": "x" * 2_000_000}
    answer = await site.local.post("/v1/runs", huge)
    assert (answer.status, answer.code) == (413, "input_too_large")
    assert answer.json()["fields"]["limit_bytes"] == limits.request_bytes


@pytest.mark.parametrize("after", ["abc", "-1", "1.5", "99999999", "9" * 30])
async def test_a_cursor_that_the_stream_never_gave_is_refused(site: Site, after: str):
    scene = await new_scene(site)
    owner = await site.signed_in(scene.actors["owner"])
    answer = await owner.get(scene.fill("/v1/runs/{run_id}/events") + f"?after={after}")
    assert (answer.status, answer.code) == (400, "cursor_unknown")


async def test_a_stream_says_how_soon_to_come_back(site: Site):
    scene = await new_scene(site)
    owner = await site.signed_in(scene.actors["owner"])
    answer = await owner.get(scene.fill("/v1/threads/{thread_id}/events"))
    assert answer.header("content-type").startswith("text/event-stream")
    assert answer.body.startswith(b"retry: ")


async def test_the_last_event_id_beats_the_address(site: Site):
    scene = await new_scene(site)
    owner = await site.signed_in(scene.actors["owner"])
    answer = await owner.get(scene.fill("/v1/projects/{project_id}/events?after=abc"), last_event_id="0")
    assert answer.status == 200


async def test_the_page_is_served_for_every_path_of_the_app(site: Site):
    nobody = Browser(site.remote.app)
    for path in ("/", "/threads/thr_1", "/runs", "/no/such/place"):
        answer = await nobody.get(path, accept="text/html,application/xhtml+xml,*/*;q=0.8")
        assert answer.status == 200
        assert answer.header("content-type").startswith("text/html")
        assert "script-src 'self'" in answer.header("content-security-policy")
        assert answer.header("cache-control") in ("no-cache", "no-store")


@pytest.mark.parametrize(
    ("method", "path", "accept"),
    [
        ("GET", "/api/tags", "text/html"),
        ("GET", "/metrics", "text/html"),
        ("GET", "/.well-known/agent-card.json", "text/html"),
        ("GET", "/v2/sandboxes", "*/*"),
        ("GET", "/info", ""),
        ("GET", "/info", "application/json"),
        ("HEAD", "/info", "*/*"),
        ("POST", "/", "text/html"),
        ("POST", "/api/chat", "*/*"),
        ("POST", "/v1/nothing", "*/*"),
        ("DELETE", "/threads/thr_1", "*/*"),
    ],
)
async def test_a_program_that_asks_for_what_is_not_here_gets_a_problem_and_no_page(
    site: Site, method: str, path: str, accept: str
):
    # Programs of other protocols took the app's page for a yes; a POST was told that its method was wrong.
    answer = await site.local.call(method, path, headers={"accept": accept} if accept else {})
    assert (answer.status, answer.code) == (404, "not_found")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("GET", "/v1/runs/run_1/cancel", "POST"), ("PUT", "/v1/me", "GET"), ("POST", "/openapi.json", "GET")],
)
async def test_another_method_of_a_route_is_told_which_it_takes(site: Site, method: str, path: str, allowed: str):
    answer = await site.local.call(method, path)
    assert (answer.status, answer.code) == (405, "malformed_input")
    assert allowed in answer.header("allow")


async def test_paths_do_not_lead_out_of_the_app_folder(site: Site):
    answer = await site.local.get("/../../../../etc/passwd")
    assert b"root:" not in answer.body


async def test_an_error_that_nobody_foresaw_is_a_problem_document_without_its_text(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    # The framework's own last handler answered first, in plain text and without the request's id.
    async def broken(*_: object) -> None:
        raise RuntimeError("the password is hunter2")

    monkeypatch.setattr("outlast.kernel.projects.actions.list_projects", broken)
    answer = await site.local.get("/v1/projects", **{"x-request-id": "req_of_mine"})
    assert (answer.status, answer.code) == (500, "internal_error")
    assert answer.json()["request_id"] == "req_of_mine"
    assert b"hunter2" not in answer.body


async def test_a_stream_too_many_is_told_as_a_problem(site: Site, monkeypatch: pytest.MonkeyPatch):
    scene = await new_scene(site)
    owner, path = await site.signed_in(scene.actors["owner"]), scene.fill("/v1/threads/{thread_id}/events")
    streams = site.local_surface.streams
    monkeypatch.setattr(streams, "places", StreamPlaces(1))
    local = Browser(site.local.app, owner.headers)
    with streams.places.taken(scene.actors["owner"].user_id):
        answer = await local.get(path)
        assert (answer.status, answer.code) == (429, "rate_limited")
        assert "streams" in answer.json()["detail"]
    assert (await local.get(path)).status == 200

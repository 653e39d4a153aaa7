"""The hottest calls are answered without FastAPI's machinery, and no client can tell."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.http.quick_routes import quick_route
from outlast.surfaces.http import api, application
from tests.asgi import HOST, Answer, Browser
from tests.factories import Team
from tests.flow.http.conftest import Site, surface_over

JSON = {"content_type": "application/json"}
STARTS: list[tuple[Any, dict[str, str]]] = [
    ({"content": "Hello"}, {}),
    ({"content": "Hello", "parts": None, "on_busy": "enqueue", "model": None}, {}),
    ({"content": "Hello", "nothing": 1}, {}),
    ({"content": 1}, {}),
    ({"content": "Hello", "on_busy": "never"}, {}),
    ({"content": "Hello", "model": "none-such"}, {}),
    ({"parts": [{"type": "text"}]}, {}),
    ([], {}),
    (b"", JSON),
    (b"{", JSON),
    (b'{"content": "\xff"}', JSON),
    (b'{"content": "Hello"}', {"content_type": "application/json; charset=utf-8"}),
    (b'{"content": "Hello"}', {"content_type": "text/plain"}),
    (b'{"content": "Hello"}', {}),
    ({"content": "Hello"}, {"Idempotency-Key": "k" * 300}),
]
CALLS: list[tuple[str, str, Any, dict[str, str]]] = [
    *(("POST", "/v1/runs", body, headers) for body, headers in STARTS),
    *(("POST", "/v1/threads/{thread}/runs", body, headers) for body, headers in STARTS),
    ("POST", "/v1/threads/thr_none/runs", {"content": "Hello"}, {}),
    ("POST", "/v1/approvals/apr_none", {"decision": "approve"}, {}),
    ("POST", "/v1/approvals/apr_none", {"decision": "perhaps"}, {}),
    ("HEAD", "/v1/runs/run_none/events", None, {}),
    ("DELETE", "/v1/runs/run_none/events", None, {}),
    ("PUT", "/v1/runs", None, {}),
    ("GET", "/v1/runs/run_none/events", None, {}),
    ("GET", "/v1/runs/run_none/events?after=x", None, {}),
    ("GET", f"/v1/runs/run_none/events?after={'9' * 101}", None, {}),
    ("GET", "/v1/runs/run_none/events?after=1&after=x", None, {}),
    ("GET", "/v1/runs/run_none/events", None, {"Last-Event-ID": "9" * 101}),
    ("GET", "/v1/runs/run_none/events", None, {"Last-Event-ID": "x"}),
]


@pytest.fixture
def slow(site: Site, monkeypatch: pytest.MonkeyPatch) -> Browser:
    """The same application with FastAPI's routes alone."""
    monkeypatch.setattr(api, "QUICK", ())
    return Browser(application.create_http(surface_over(site.services, None), known_hosts("127.0.0.1", "", ())))


@pytest.mark.parametrize("signed_in", [True, False])
@pytest.mark.parametrize("call", CALLS, ids=str)
async def test_a_quick_route_answers_as_fastapi_would(
    site: Site, slow: Browser, call: tuple[str, str, Any, dict[str, str]], signed_in: bool
) -> None:
    method, path, body, headers = call
    answers = []
    for app in (site.remote, slow):
        team = await site.services.db.write(Team)
        browser = await site.signed_in(team.editor, app) if signed_in else Browser(app.app)
        found = path.format(thread=team.thread_id) if "{" in path else path
        answers.append(_told(await browser.call(method, found, body, headers=headers)))
    assert answers[0] == answers[1]


async def test_a_client_that_leaves_within_its_body_is_no_fault_of_the_server(site: Site, slow: Browser) -> None:
    for app in (site.remote, slow):
        came: list[dict[str, Any]] = [
            {"type": "http.request", "body": b'{"con', "more_body": True},
            {"type": "http.disconnect"},
        ]
        sent: list[dict[str, Any]] = []

        async def receive(came: list[dict[str, Any]] = came) -> dict[str, Any]:
            return came.pop(0) if len(came) > 1 else came[0]

        async def send(message: dict[str, Any], sent: list[dict[str, Any]] = sent) -> None:
            sent.append(message)

        headers = {"host": HOST, "content-type": "application/json", "content-length": "20"}
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/v1/runs",
            "query_string": b"",
            "client": ("127.0.0.1", 50000),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "state": {},
        }
        await app.app(scope, receive, send)
        assert [message["status"] for message in sent[:1]] == [400]


def _told(answer: Answer) -> tuple[int, str, str, list[str]]:
    """What of an answer does not depend on the project: its status, error and fields."""
    is_json = "json" in answer.header("content-type")
    return answer.status, answer.code, answer.header("allow"), sorted(answer.json()) if is_json else []


def test_an_endpoint_with_arguments_that_nobody_reads_is_refused_at_the_start() -> None:
    router = APIRouter()

    @router.get("/things")
    async def things(limit: int) -> None: ...

    with pytest.raises(TypeError, match="limit"):
        quick_route(FastAPI(), _only(router))


def test_a_route_that_nobody_would_reach_any_more_is_refused_at_the_start() -> None:
    router, other = APIRouter(), APIRouter()

    @router.get("/things/{thing_id}")
    async def thing(thing_id: str) -> None: ...

    @other.get("/things/newest")
    async def newest() -> None: ...

    with pytest.raises(TypeError, match="/things/newest"):
        quick_route(FastAPI(), _only(router), [_only(other)])


def _only(router: APIRouter) -> APIRoute:
    (route,) = router.routes
    assert isinstance(route, APIRoute)
    return route

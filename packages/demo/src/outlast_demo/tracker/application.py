"""Routes of the tracker: plain Starlette, JSON in and out."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import partial
from typing import Any, Final

import orjson
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from outlast.base.clock import Clock, iso
from outlast_demo.tracker.access import RateLimit, check_credentials
from outlast_demo.tracker.changes import add_comment, add_issue, change_issue, find
from outlast_demo.tracker.issue_lists import counts_of, known, page_of
from outlast_demo.tracker.issues import ME, Book
from outlast_demo.tracker.problems import Refused, no_such
from outlast_demo.tracker.request_log import RequestLog
from outlast_demo.tracker.storage import Kept
from outlast_sandbox.egress.secrets import SecretValue

BODY_BYTES: Final = 65_536
Answer = tuple[int, Any]
Handler = Callable[[Request, Kept, str], Awaitable[Answer]]


async def read_me(request: Request, kept: Kept, now: str) -> Answer:
    return 200, asdict(kept.book.people[ME])


async def list_people(request: Request, kept: Kept, now: str) -> Answer:
    known(dict(request.query_params), ())
    return 200, {"items": [asdict(person) for person in kept.book.people.values()]}


async def list_projects(request: Request, kept: Kept, now: str) -> Answer:
    known(dict(request.query_params), ())
    return 200, {"items": [_project(kept.book, key) for key in kept.book.projects]}


async def read_project(request: Request, kept: Kept, now: str) -> Answer:
    key = request.path_params["key"].upper()
    if key not in kept.book.projects:
        raise no_such("project", key)
    return 200, _project(kept.book, key)


async def list_issues(request: Request, kept: Kept, now: str) -> Answer:
    return 200, page_of(kept.book, dict(request.query_params))


async def count_issues(request: Request, kept: Kept, now: str) -> Answer:
    return 200, counts_of(kept.book, dict(request.query_params))


async def read_issue(request: Request, kept: Kept, now: str) -> Answer:
    return 200, find(kept.book, request.path_params["key"]).plain(whole=True)


async def create_issue(request: Request, kept: Kept, now: str) -> Answer:
    wish = await _body(request)
    return 201, (await kept.change(lambda book: add_issue(book, wish, now))).plain(whole=True)


async def patch_issue(request: Request, kept: Kept, now: str) -> Answer:
    key, wish = request.path_params["key"], await _body(request)
    return 200, (await kept.change(lambda book: change_issue(book, key, wish, now))).plain(whole=True)


async def create_comment(request: Request, kept: Kept, now: str) -> Answer:
    key, wish = request.path_params["key"], await _body(request)
    return 201, (await kept.change(lambda book: add_comment(book, key, wish, now))).plain(whole=True)


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/v2/me", read_me),
    ("GET", "/v2/people", list_people),
    ("GET", "/v2/projects", list_projects),
    ("GET", "/v2/projects/{key}", read_project),
    ("GET", "/v2/issues", list_issues),
    ("POST", "/v2/issues", create_issue),
    ("GET", "/v2/issues/counts", count_issues),
    ("GET", "/v2/issues/{key}", read_issue),
    ("PATCH", "/v2/issues/{key}", patch_issue),
    ("POST", "/v2/issues/{key}/comments", create_comment),
)


def tracker_app(kept: Kept, secret: SecretValue, log: RequestLog, clock: Clock) -> Starlette:
    """The whole API. Every request is counted, authenticated, and written to the request log."""
    limit = RateLimit(clock)

    async def answer(handler: Handler, request: Request) -> Response:
        headers: dict[str, str] = {}
        try:
            headers = limit.take()
            check_credentials(request, secret)
            status, body = await handler(request, kept, iso(clock.now()))
            response = _json(status, body)
        except Refused as refused:
            response = _problem(refused)
        for name, value in headers.items():
            response.headers[name] = value
        log.note(request, response.status_code)
        return response

    async def nowhere(request: Request, _error: Exception) -> Response:
        refused = Refused(404, "not_found", "This path does not exist.", "All paths begin with /v2; see the docs.")
        log.note(request, refused.status)
        return _problem(refused)

    async def wrong_verb(request: Request, _error: Exception) -> Response:
        refused = Refused(
            405, "wrong_method", f"This path does not support {request.method}.", "See the docs of this path."
        )
        log.note(request, refused.status)
        return _problem(refused)

    routes = [
        Route(path, partial(answer, handler), methods=[method], include_in_schema=False)
        for method, path, handler in ROUTES
    ]
    return Starlette(routes=routes, exception_handlers={404: nowhere, 405: wrong_verb})


def _project(book: Book, key: str) -> dict[str, Any]:
    issues = [issue for issue in book.issues.values() if issue.project == key]
    is_open = sum(issue.is_open for issue in issues)
    return asdict(book.projects[key]) | {"open": is_open, "closed": len(issues) - is_open}


async def _body(request: Request) -> dict[str, Any]:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refused(415, "json_needed", "The body must be JSON.", "Send content-type: application/json.")
    data = b""
    try:
        async for piece in request.stream():
            data += piece
            if len(data) > BODY_BYTES:
                raise Refused(413, "too_large", "The body is too large.", f"Send at most {BODY_BYTES} bytes.")
        wish = orjson.loads(data)
    except (orjson.JSONDecodeError, ClientDisconnect):
        raise Refused(400, "json_needed", "The body is not valid JSON.", "Send one JSON object.") from None
    if not isinstance(wish, dict):
        raise Refused(400, "json_needed", "The body is not a JSON object.", "Send one JSON object.")
    return wish


def _json(status: int, body: Any, media_type: str = "application/json") -> Response:
    return Response(orjson.dumps(body), status, media_type=media_type)


def _problem(refused: Refused) -> Response:
    response = _json(refused.status, refused.document(), "application/problem+json")
    for name, value in refused.headers.items():
        response.headers[name] = value
    return response

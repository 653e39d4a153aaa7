"""Fast paths for the most frequent calls: FastAPI's dependencies, body and routing take half a millisecond per call.  A
quick route reads the arguments of one endpoint itself, before FastAPI sees the request. It accepts the same requests as
FastAPI, or fewer: all others are left to FastAPI's own route of the same path, which also reports errors. openapi.json
describes FastAPI's routes.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from operator import attrgetter
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import orjson
from fastapi import FastAPI, params
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

Read = Callable[[Request], Awaitable[Any]]
JSON: Final = "application/json"


class _Unread(Exception):
    """This request is left to FastAPI."""


class QuickRoutes:
    """An ASGI application in front of FastAPI's: the routes with these names, then everything else. Errors are answered
    as FastAPI's application does. Raises `TypeError` as `quick_route` does."""

    def __init__(self, api: FastAPI, names: Iterable[str]) -> None:
        routes = [route for route in api.routes if isinstance(route, APIRoute)]
        named = {route.name: route for route in routes}
        self._api = api
        self._routes = [quick_route(api, named[name], routes) for name in names]
        handlers: Mapping[Any, Any] = api.exception_handlers
        expected = {kind: answer for kind, answer in handlers.items() if kind not in (500, Exception)}
        guarded = ExceptionMiddleware(self._dispatch, expected)
        self._guarded = ServerErrorMiddleware(guarded, handler=handlers.get(Exception))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            for route in self._routes:
                match, found = route.matches(scope)
                if match is Match.FULL:
                    scope.update(found, app=self._api)
                    await self._guarded(scope, receive, send)
                    return
        await self._api(scope, receive, send)

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        await scope["endpoint"](scope, receive, send)


def quick_route(api: ASGIApp, route: APIRoute, others: Iterable[APIRoute] = ()) -> Route:
    """A route to the same endpoint, tried before `api`. Raises `TypeError` for an endpoint with other arguments than
    path, query and header strings, one JSON body, the request, and dependencies that take only the request; and for a
    path that also fits one of the `others`, which would become unreachable."""
    quick = Route(route.path, _Quick(api, route), name=f"quick_{route.name}")
    quick.methods = set(route.methods or ())  # Starlette would add HEAD, which FastAPI refuses
    for other in others:
        if other is not route and quick.methods & set(other.methods or ()) and quick.path_regex.match(other.path):
            raise TypeError(f"A quick route for {route.path} would hide {other.path}.")
    return quick


class _Quick:
    def __init__(self, api: ASGIApp, route: APIRoute) -> None:
        self._api, self._route = api, route
        self._readers = readers_of(route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        try:
            arguments = {name: await read(request) for name, read in self._readers.items()}
        except _Unread:
            await self._api(scope, await _again(request), send)
            return
        response = await self._route.endpoint(**arguments)
        await response(scope, receive, send)


def readers_of(route: APIRoute) -> Mapping[str, Read]:
    """A reader for each argument of the endpoint. The body is read first, as FastAPI reports malformed JSON before it
    checks who sent the request."""
    hints = get_type_hints(route.endpoint, include_extras=True)
    hints.pop("return", None)
    defaults = dict(zip(reversed(list(hints)), reversed(route.endpoint.__defaults__ or ()), strict=False))
    names = sorted(hints, key=lambda name: not _is_body(hints[name]))
    return {name: _reader(route, name, hints[name], defaults) for name in names}


def _reader(route: APIRoute, name: str, hint: Any, defaults: Mapping[str, Any]) -> Read:
    if hint is Request:
        return _itself
    if _is_body(hint):
        return _body(hint)
    if name in route.param_convertors and hint is str:
        return _of_path(name)
    metadata = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    for given in metadata:
        if isinstance(given, params.Depends) and given.dependency is not None:
            return given.dependency
        if isinstance(given, (params.Query, params.Header)):
            return _text(name, hint, given, defaults[name])
    raise TypeError(f"{route.endpoint.__name__} takes {name}, which a quick route cannot read.")


def _is_body(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, BaseModel)


async def _itself(request: Request) -> Request:
    return request


def _of_path(name: str) -> Read:
    async def read(request: Request) -> str:
        return str(request.path_params[name])

    return read


def _text(name: str, hint: Any, given: params.Param, default: Any) -> Read:
    alias = given.alias or name
    values_of = attrgetter("headers" if isinstance(given, params.Header) else "query_params")
    check = TypeAdapter(hint)

    async def read(request: Request) -> Any:
        text = values_of(request).get(alias)
        if text is None:
            return default
        try:
            return check.validate_python(text)
        except ValidationError:
            raise _Unread from None

    return read


def _body(shape: type[BaseModel]) -> Read:
    async def read(request: Request) -> BaseModel:
        if request.headers.get("content-type") != JSON:
            raise _Unread
        try:
            return shape.model_validate(orjson.loads(await request.body()))
        except (ValidationError, orjson.JSONDecodeError):
            raise _Unread from None
        except ClientDisconnect as error:  # the client is gone; without an answer, this would count as our fault
            raise HTTPException(400) from error

    return read


async def _again(request: Request) -> Receive:
    """A `receive` for a second reader of the request, which returns the body again if it was read."""
    if not hasattr(request, "_body"):
        return request.receive
    first: Message = {"type": "http.request", "body": await request.body(), "more_body": False}
    waiting = [first]

    async def receive() -> Message:
        return waiting.pop() if waiting else await request.receive()

    return receive

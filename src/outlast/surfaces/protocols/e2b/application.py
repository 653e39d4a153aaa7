"""The two halves as one ASGI application each, and the errors of both."""

from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from outlast.base.errors import InternalError, NotOffered, OutlastError
from outlast.kernel.services import Services
from outlast.surfaces.protocols.e2b import connect, control, files, filesystem, inner, processes
from outlast.surfaces.protocols.e2b.problems import BAD_GATEWAY, is_gone, plain
from outlast.surfaces.protocols.e2b.runtime import E2bRuntime

METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def create_control(services: Services, runtime: E2bRuntime, domain: str | None) -> ASGIApp:
    """Sandboxes made, found and ended."""
    rest = Route("/{path:path}", control.not_offered, methods=METHODS)
    return _application([*control.routes(), rest], services, runtime, domain, inside=False)


def create_envd(services: Services, runtime: E2bRuntime) -> ASGIApp:
    """What happens inside of them."""
    calls = [
        Route("/process.Process/Start", processes.start, methods=["POST"]),
        Route("/process.Process/Connect", processes.listen, methods=["POST"]),
        Route("/process.Process/StreamInput", processes.stream_input, methods=["POST"]),
        Route("/process.Process/{method}", processes.answer_unary, methods=["POST"]),
        Route("/filesystem.Filesystem/WatchDir", filesystem.watch_dir, methods=["POST"]),
        Route("/filesystem.Filesystem/{method}", filesystem.answer_unary, methods=["POST"]),
        Route("/files", files.download, methods=["GET"]),
        Route("/files", files.upload, methods=["POST"]),
        Route("/health", inner.health, methods=["GET"]),
        Route("/metrics", inner.metrics, methods=["GET"]),
        Route("/envs", inner.environment, methods=["GET"]),
        Route("/{path:path}", inner.not_offered, methods=METHODS),
    ]
    return _application(calls, services, runtime, None, inside=True)


def _application(
    routes: list[Route], services: Services, runtime: E2bRuntime, domain: str | None, *, inside: bool
) -> ASGIApp:
    app = Starlette(routes=routes)
    app.state.services, app.state.runtime, app.state.domain = services, runtime, domain
    tell = _tell_inside if inside else _tell
    app.add_exception_handler(OutlastError, tell)
    app.add_exception_handler(HTTPException, tell)
    return app


async def _tell(request: Request, error: Exception) -> Response:
    return plain(_ours(request, error))


async def _tell_inside(request: Request, error: Exception) -> Response:
    """In the way of the call: Connect's errors for its calls, E2B's gateway's for the rest."""
    known = _ours(request, error)
    kind = request.headers.get("content-type", "").split(";")[0]
    if request.url.path.startswith(("/process.", "/filesystem.")):
        return _Streamed(known) if kind == connect.STREAM else connect.unary_error(known)
    return plain(known, BAD_GATEWAY if is_gone(known) else None)


def _ours(request: Request, error: Exception) -> OutlastError:
    if isinstance(error, OutlastError):
        return error
    if isinstance(error, HTTPException):
        return NotOffered(f"{request.method} is not taken at {request.url.path[:200]}.")
    return InternalError("The server failed to answer this request.")


class _Streamed(Response):
    """An error as the only thing that a stream holds."""

    def __init__(self, error: OutlastError) -> None:
        super().__init__()
        self._error = error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await connect.stream_error(self._error)(scope, receive, send)

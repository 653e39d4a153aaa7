"""The two halves as one ASGI application each, and the errors of both. Also envd's own calls: health, metrics and
environment."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from outlast.base.errors import NotOffered, OutlastError
from outlast.kernel.http.responses import nothing, reply
from outlast.kernel.services import Services
from outlast.surfaces.protocols.e2b import connect, control, files, filesystem, processes
from outlast.surfaces.protocols.e2b.access import Unary, inside, services_of
from outlast.surfaces.protocols.e2b.names import MEBIBYTE
from outlast.surfaces.protocols.e2b.problems import BAD_GATEWAY, is_gone, plain
from outlast.surfaces.protocols.e2b.runtime import E2bRuntime
from outlast_sandbox.interface import SandboxStatistics

METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE"]
IDLE: Final = SandboxStatistics(0, 0, 0.0)  # of a sandbox that was paused after it was found


def create_control(services: Services, runtime: E2bRuntime, domain: str | None) -> ASGIApp:
    """The control plane."""
    routes = [Route(path, answer, methods=[method]) for method, path, answer in control.ROUTES]
    routes.append(Route("/{path:path}", control.not_offered, methods=METHODS))
    app = _application(routes, _refuse, services, runtime)
    app.state.domain = domain
    return app


def create_envd(services: Services, runtime: E2bRuntime) -> ASGIApp:
    """Processes and files inside sandboxes."""
    calls = [
        Route("/process.Process/Start", processes.start, methods=["POST"]),
        Route("/process.Process/Connect", processes.listen, methods=["POST"]),
        Route("/process.Process/StreamInput", processes.stream_input, methods=["POST"]),
        Route("/process.Process/{method}", partial(_answer_unary, processes.UNARY), methods=["POST"]),
        Route("/filesystem.Filesystem/WatchDir", filesystem.watch_dir, methods=["POST"]),
        Route("/filesystem.Filesystem/{method}", partial(_answer_unary, filesystem.UNARY), methods=["POST"]),
        Route("/files", files.download, methods=["GET"]),
        Route("/files", files.upload, methods=["POST"]),
        Route("/health", _health, methods=["GET"]),
        Route("/metrics", _metrics, methods=["GET"]),
        Route("/envs", _environment, methods=["GET"]),
        Route("/{path:path}", _not_offered, methods=METHODS),
    ]
    return _application(calls, _refuse_call, services, runtime)


def _application(routes: list[Route], refuse: Any, services: Services, runtime: E2bRuntime) -> Starlette:
    app = Starlette(routes=routes, exception_handlers=dict.fromkeys((OutlastError, HTTPException), refuse))
    app.state.services, app.state.runtime = services, runtime
    return app


async def _answer_unary(calls: Mapping[str, Unary], request: Request) -> Response:
    place, method = await inside(request), request.path_params["method"]
    if method not in calls:
        raise NotOffered(f"There is no call {method[:60]}.")
    return reply(await calls[method](place, await connect.read_unary(request)))


async def _health(request: Request) -> Response:
    """204 while the sandbox runs."""
    await inside(request)
    return nothing()


async def _metrics(request: Request) -> Response:
    place, settings = await inside(request), services_of(request).settings.sandbox
    measured = await place.sandbox.statistics() or IDLE
    cpus, memory_mb = (settings.cpus, settings.memory_mb) if settings else (1.0, 0)
    return reply(
        {
            "ts": int(services_of(request).clock.now().timestamp()),
            "cpu_count": max(1, round(cpus)),
            "cpu_used_pct": place.runtime.cpu_percent(place.workspace_id, measured.cpu_s, cpus),
            "mem_total": memory_mb * MEBIBYTE,
            "mem_used": measured.memory_bytes,
            "mem_total_mib": memory_mb,
            "mem_used_mib": measured.memory_bytes // MEBIBYTE,
        }
    )


async def _environment(request: Request) -> Response:
    """The environment of every process, as the sandbox's creator set it."""
    return reply(dict((await inside(request)).hosted.env))


async def _not_offered(request: Request) -> Response:
    await inside(request)
    raise NotOffered(f"A sandbox does not answer {request.method} {request.url.path[:200]}.")


async def _refuse(request: Request, error: Exception) -> Response:
    return plain(_known(request, error))


async def _refuse_call(request: Request, error: Exception) -> Any:
    """In the form of the call: Connect's errors for its calls, those of E2B's gateway for the rest."""
    known = _known(request, error)
    if request.url.path.startswith(("/process.", "/filesystem.")):
        kind = request.headers.get("content-type", "").split(";")[0]
        return connect.stream_error(known) if kind == connect.STREAM else connect.unary_error(known)
    return plain(known, BAD_GATEWAY if is_gone(known) else None)


def _known(request: Request, error: Exception) -> OutlastError:
    """Our error, or the router's own refusal: every path has a route, so it refused the method."""
    if isinstance(error, OutlastError):
        return error
    return NotOffered(f"{request.method} is not supported at {request.url.path[:200]}.")

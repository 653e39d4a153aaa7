"""What envd tells about itself: that it lives, what it uses, what its environment is."""

from typing import Final

import orjson
from starlette.requests import Request
from starlette.responses import Response

from outlast.base.errors import NotOffered
from outlast.surfaces.protocols.e2b.access import inside, runtime_of, services_of
from outlast_sandbox.interface import SandboxStatistics

MEBIBYTE: Final = 1024 * 1024
IDLE: Final = SandboxStatistics(0, 0, 0.0)  # of one that has fallen asleep since it was found


async def health(request: Request) -> Response:
    """204 while it runs."""
    await inside(request)
    return Response(status_code=204)


async def metrics(request: Request) -> Response:
    place, settings = await inside(request), services_of(request).settings.sandbox
    measured = await place.sandbox.statistics() or IDLE
    cpus, memory_mb = (settings.cpus, settings.memory_mb) if settings else (1.0, 0)
    used_mb = measured.memory_bytes // MEBIBYTE
    return _json(
        {
            "ts": int(services_of(request).clock.now().timestamp()),
            "cpu_count": max(1, round(cpus)),
            "cpu_used_pct": runtime_of(request).cpu_percent(place.workspace_id, measured.cpu_s, cpus),
            "mem_total": memory_mb * MEBIBYTE,
            "mem_used": measured.memory_bytes,
            "mem_total_mib": memory_mb,
            "mem_used_mib": used_mb,
        }
    )


async def environment(request: Request) -> Response:
    """What every process gets, as it was asked for."""
    return _json(dict((await inside(request)).hosted.env))


async def not_offered(request: Request) -> Response:
    await inside(request)
    raise NotOffered(f"A sandbox does not answer {request.method} {request.url.path[:200]}.")


def _json(value: object) -> Response:
    return Response(orjson.dumps(value), 200, {"cache-control": "no-store"}, "application/json")

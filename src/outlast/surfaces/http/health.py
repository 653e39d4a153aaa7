"""The answers to `/healthz` and `/readyz`."""

from starlette.requests import Request
from starlette.responses import Response

from outlast.kernel.http.responses import reply
from outlast.kernel.http.surface import Surface


async def answer_health(surface: Surface, request: Request) -> Response:
    """`/healthz`: the process answers. `/readyz`: whether it can work, 503 if not."""
    if request.url.path == "/healthz":
        return reply({"status": "ok"})
    verbose = request.query_params.get("verbose")
    ready, report = await surface.readiness.report(verbose=verbose not in (None, "0", "false"))
    return reply(report, 200 if ready else 503)

"""The control plane: create, find, connect to, pause and end sandboxes. One route, one action."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl, unquote

from starlette.requests import Request
from starlette.responses import Response

from outlast.base.clock import iso
from outlast.base.errors import Conflict, MalformedInput, NotOffered, OutlastError
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.http.responses import nothing, reply
from outlast.kernel.previews.hosts import port_suffix
from outlast.kernel.sandboxes import hosted_actions as actions
from outlast.kernel.sandboxes.hosted import BASE, Hosted, HostedOrder
from outlast.kernel.sandboxes.hosted_snapshots import HostedSnapshot
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.surfaces.protocols.e2b import shapes
from outlast.surfaces.protocols.e2b.access import actor_of, runtime_of, services_of
from outlast.surfaces.protocols.e2b.names import MEBIBYTE, shown_id, template_of, whole_number, workspace_of
from outlast.surfaces.protocols.e2b.problems import full_message, status_for
from outlast.surfaces.protocols.e2b.shapes import body_of

NEXT_TOKEN: Final = "x-next-token"
MAX_LISTED: Final = 100
ONE: Final = "/sandboxes/{sandbox_id}"
STATES: Final = frozenset({"running", "paused"})
Answer = Callable[[Request], Awaitable[Response]]
T = TypeVar("T", Hosted, HostedSnapshot)


async def create(request: Request) -> Response:
    actor, body = await actor_of(request), await body_of(request, shapes.NewSandbox)
    key = request.headers.get("idempotency-key")
    made = await actions.create_hosted(services_of(request), actor, _order(body), key)
    return reply(shapes.sandbox(made, _domain(request)), 201)


async def list_all(request: Request) -> Response:
    """A page of sandboxes: filtered by metadata, state, template and time, the newest first by default."""
    actor, query = await actor_of(request), request.query_params
    chosen = [one for one in await actions.list_hosted(services_of(request), actor) if _fits(one, query)]
    if is_ascending := query.get("order") == "asc":
        chosen.reverse()
    limit = _limit(query.get("limit"))
    if token := query.get("nextToken"):
        after = workspace_of(token)
        place = next((n for n, one in enumerate(chosen) if one.workspace_id == after), None)
        if place is not None:
            chosen = chosen[place + 1 :]
        else:  # the last sandbox of the page before is gone
            chosen = [one for one in chosen if (one.workspace_id > after) == is_ascending]
    settings = _settings(request)
    return _page(chosen, limit, lambda one: shapes.listed(one, settings))


async def list_running(request: Request) -> Response:
    """The list for older SDKs: all running sandboxes."""
    actor, query = await actor_of(request), request.query_params
    found = await actions.list_hosted(services_of(request), actor)
    settings = _settings(request)
    return reply([shapes.listed(one, settings) for one in found if one.runs and _fits(one, query)])


async def read(request: Request) -> Response:
    found = await actions.read_hosted(services_of(request), await actor_of(request), _workspace(request))
    return reply(shapes.detail(found, _settings(request), _domain(request)))


async def kill(request: Request) -> Response:
    await actions.kill_hosted(services_of(request), await actor_of(request), _workspace(request))
    return nothing()


async def connect(request: Request) -> Response:
    """Wake the sandbox if it sleeps, and extend its time."""
    actor, body = await actor_of(request), await body_of(request, shapes.Timed)
    found, slept = await actions.connect_hosted(
        services_of(request), actor, _workspace(request), body.timeout, keep_memory=body.memory
    )
    return reply(shapes.sandbox(found, _domain(request)), 201 if slept else 200)


async def resume(request: Request) -> Response:
    """Wake a sandbox, for older SDKs. Refused if it is running."""
    actor, body = await actor_of(request), await body_of(request, shapes.Timed)
    workspace_id = _workspace(request)
    if (await actions.read_hosted(services_of(request), actor, workspace_id)).runs:
        raise Conflict(f"The sandbox {shown_id(workspace_id)} is running.")
    found, _ = await actions.connect_hosted(services_of(request), actor, workspace_id, body.timeout)
    return reply(shapes.sandbox(found, _domain(request)), 201)


async def pause(request: Request) -> Response:
    actor, body = await actor_of(request), await body_of(request, shapes.Pause)
    workspace_id = _workspace(request)
    if not await actions.pause_hosted(services_of(request), actor, workspace_id, keep_memory=body.memory):
        raise Conflict(f"The sandbox {shown_id(workspace_id)} is already paused.")
    return nothing()


async def set_timeout(request: Request) -> Response:
    actor, body = await actor_of(request), await body_of(request, shapes.Timed)
    await actions.set_hosted_timeout(services_of(request), actor, _workspace(request), body.timeout)
    return nothing()


async def refresh(request: Request) -> Response:
    actor, body = await actor_of(request), await body_of(request, shapes.Refresh)
    await actions.set_hosted_timeout(services_of(request), actor, _workspace(request), body.duration, only_longer=True)
    return nothing()


async def change_network(request: Request) -> Response:
    """Replace the sandbox's network rules."""
    actor, body = await actor_of(request), await body_of(request, shapes.Network)
    network = _network(body)
    await actions.change_hosted_options(
        services_of(request), actor, _workspace(request), lambda found: {**found.options, "network": network}
    )
    return nothing()


async def metrics(request: Request) -> Response:
    """The sandbox's current usage, as a series of one entry; empty while it sleeps, or if now is outside the requested
    time."""
    used = await _metric(request, await actor_of(request), _workspace(request))
    return reply([used] if used is not None and _is_asked_for_now(request) else [])


async def metrics_of_many(request: Request) -> Response:
    actor = await actor_of(request)
    named = filter(None, request.query_params.get("sandbox_ids", "").split(",")[:MAX_LISTED])
    found = {sandbox_id: await _metric(request, actor, workspace_of(sandbox_id)) for sandbox_id in named}
    return reply({"sandboxes": {sandbox_id: used for sandbox_id, used in found.items() if used is not None}})


async def make_snapshot(request: Request) -> Response:
    """Save the sandbox's files as they are now."""
    actor, body = await actor_of(request), await body_of(request, shapes.NewSnapshot)
    made = await actions.snapshot_hosted(services_of(request), actor, _workspace(request), body.name)
    return reply(shapes.snapshot(made), 201)


async def list_snapshots(request: Request) -> Response:
    actor, query = await actor_of(request), request.query_params
    source = workspace_of(query["sandboxID"]) if query.get("sandboxID") else None
    found = await actions.list_hosted_snapshots(services_of(request), actor, source, query.get("name") or None)
    if token := query.get("nextToken"):
        found = [one for one in found if one.workspace_id < workspace_of(token)]
    return _page(found, _limit(query.get("limit")), shapes.snapshot)


async def delete_template(request: Request) -> Response:
    """Remove a snapshot. Programs cannot remove the operator's templates."""
    actor, named = await actor_of(request), template_of(unquote(request.path_params["template_id"]))
    await actions.delete_hosted_snapshot(services_of(request), actor, named)
    return nothing()


async def find_template(request: Request) -> Response:
    """The template with this name."""
    actor, named = await actor_of(request), unquote(request.path_params["alias"])
    found = await actions.find_template(services_of(request), actor, template_of(named))
    return reply({"templateID": shown_id(found), "public": found == BASE})


async def fork(request: Request) -> Response:
    """Create sandboxes with this one's files: for each the sandbox, or the reason why it could not be created."""
    actor, body = await actor_of(request), await body_of(request, shapes.Fork)
    made = await actions.fork_hosted(services_of(request), actor, _workspace(request), body.timeout, body.count)
    domain = _domain(request)
    return reply([_forked(one, domain) for one in made], 201)


async def not_offered(request: Request) -> Response:
    await actor_of(request)
    raise NotOffered(f"This server does not offer {request.method} {request.url.path} of E2B's protocol.")


def _forked(one: Hosted | OutlastError, domain: str | None) -> dict[str, Any]:
    if isinstance(one, OutlastError):
        return {"error": {"code": status_for(one), "message": full_message(one)}}
    return {"sandbox": shapes.sandbox(one, domain)}


def _order(body: shapes.NewSandbox) -> HostedOrder:
    for name, asked in (("mcp", body.mcp), ("iam", body.iam), ("volumeMounts", body.volume_mounts)):
        if asked:
            raise NotOffered(f"{name} is not supported by this server's sandboxes.")
    options: dict[str, Any] = {
        "timeout_s": body.timeout,
        "auto_resume": body.auto_resume is not None and body.auto_resume.enabled,
        "keep_memory": body.auto_pause_memory is not False,
    }
    if body.network is not None:
        options["network"] = _network(body.network)
    return HostedOrder(
        timeout_s=body.timeout,
        template=template_of(body.template),
        on_timeout="pause" if body.auto_pause else "kill",
        metadata=body.metadata,
        env=body.env,
        options=options,
    )


def _network(asked: shapes.Network) -> dict[str, Any]:
    """The requested network rules. Raises `NotOffered` for rules that would open more than the operator has."""
    if asked.allow_out or asked.rules or asked.egress_proxy:
        raise NotOffered(
            "A caller cannot open the network of a sandbox here.",
            hint="The operator sets the hosts: sandbox.allow_hosts and [[sandbox.dependencies]].",
        )
    if asked.mask_request_host:
        raise NotOffered("Programs in the sandbox always receive the requested host; it cannot be masked.")
    # Older SDKs request public ports with every network; here they are open to callers with the traffic token.
    return asked.model_dump(by_alias=True, exclude_none=True) | {"allowPublicTraffic": False}


def _fits(one: Hosted, query: Any) -> bool:
    states = set(filter(None, query.get("state", "").split(",")))
    if unknown := states - STATES:
        raise MalformedInput(f"The state must be running or paused, not {min(unknown)[:40]}.", field="state")
    if states and ("running" if one.runs else "paused") not in states:
        return False
    if (template := query.get("template")) and template not in (one.template, shapes.template_shown(one)):
        return False
    if (since := query.get("startedAfter")) and one.created_at < _moment(since):
        return False
    wanted = parse_qsl(query.get("metadata", ""), keep_blank_values=True)
    return all(one.metadata.get(unquote(key)) == unquote(value) for key, value in wanted)


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError:
        raise MalformedInput("startedAfter must be a time like 2026-01-31T12:00:00Z.", field="startedAfter") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _page(found: list[T], limit: int, shown: Callable[[T], Any]) -> Response:
    """The first `limit` entries, and in a header the token of the next page."""
    answer = reply([shown(one) for one in found[:limit]])
    if len(found) > limit:
        answer.headers[NEXT_TOKEN] = shown_id(found[limit - 1].workspace_id)
    return answer


def _limit(text: str | None) -> int:
    limit = MAX_LISTED if text is None else whole_number(text)
    if limit is None or not 0 < limit <= MAX_LISTED:
        raise MalformedInput(f"The limit must be 1 to {MAX_LISTED}.", field="limit")
    return limit


def _is_asked_for_now(request: Request) -> bool:
    now = services_of(request).clock.now()
    start, end = _seconds(request, "start"), _seconds(request, "end")
    return (start is None or now.timestamp() >= start) and (end is None or now.timestamp() <= end + 1)


def _seconds(request: Request, name: str) -> int | None:
    text = request.query_params.get(name, "")
    number = whole_number(text)
    if number is None and text:
        raise MalformedInput("start and end must be whole seconds since 1970.", field=name)
    return number


async def _metric(request: Request, actor: Actor, workspace_id: str) -> dict[str, Any] | None:
    """The sandbox's current usage; None while it sleeps."""
    services, settings = services_of(request), _settings(request)
    used = await actions.measure_hosted(services, actor, workspace_id)
    if used is None:
        return None
    (measured, disk_bytes), now = used, services.clock.now()
    return {
        "timestamp": iso(now),
        "timestampUnix": int(now.timestamp()),
        "cpuCount": max(1, round(settings.cpus)),
        "cpuUsedPct": runtime_of(request).cpu_percent(workspace_id, measured.cpu_s, settings.cpus),
        "memUsed": measured.memory_bytes,
        "memTotal": settings.memory_mb * MEBIBYTE,
        "memCache": 0,
        "diskUsed": disk_bytes,
        "diskTotal": settings.disk_mb * MEBIBYTE,
    }


def _settings(request: Request) -> SandboxSettings:
    return services_of(request).settings.sandbox or SandboxSettings()


def _domain(request: Request) -> str | None:
    """The DOMAIN of `PORT-ID.DOMAIN`, the address of a port inside."""
    domain: str | None = request.app.state.domain
    return None if domain is None else domain + port_suffix(request.headers.get("host", ""))


def _workspace(request: Request) -> str:
    return workspace_of(request.path_params["sandbox_id"])


ROUTES: Final[list[tuple[str, str, Answer]]] = [
    ("POST", "/sandboxes", create),
    ("POST", "/v2/sandboxes", create),
    ("GET", "/sandboxes", list_running),
    ("GET", "/v2/sandboxes", list_all),
    ("GET", "/sandboxes/metrics", metrics_of_many),
    ("GET", ONE, read),
    ("DELETE", ONE, kill),
    ("POST", f"{ONE}/connect", connect),
    ("POST", f"/v2{ONE}/connect", connect),
    ("POST", f"{ONE}/resume", resume),
    ("POST", f"{ONE}/pause", pause),
    ("POST", f"{ONE}/timeout", set_timeout),
    ("POST", f"{ONE}/refreshes", refresh),
    ("PUT", f"{ONE}/network", change_network),
    ("GET", f"{ONE}/metrics", metrics),
    ("POST", f"{ONE}/snapshots", make_snapshot),
    ("POST", f"{ONE}/fork", fork),
    ("GET", "/snapshots", list_snapshots),
    ("GET", "/templates/aliases/{alias:path}", find_template),
    ("DELETE", "/templates/{template_id:path}", delete_template),
]

"""Previews: the visible ports of a sandbox, and their visitors. A signed-in user requests a ticket, which is exchanged
on the preview's own host for a cookie, and the cookie is checked at every visit."""

from contextlib import suppress
from datetime import datetime
from typing import Final

import anyio

from outlast.base.errors import Forbidden, MalformedInput, NotFound, SandboxLost, SandboxUnavailable
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.store import still_signed_in
from outlast.kernel.apps import registry
from outlast.kernel.previews import tickets
from outlast.kernel.previews.ports import IMAGE_HOSTS
from outlast.kernel.previews.shapes import PortAnswer
from outlast.kernel.previews.tickets import Grant
from outlast.kernel.projects.permissions import require, require_sandbox
from outlast.kernel.projects.rules import Right, Role, allows
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.actions import machines_of
from outlast.kernel.sandboxes.rows import SandboxRow, ServiceRow
from outlast.kernel.sandboxes.rules import State
from outlast.kernel.sandboxes.services.store import services_of
from outlast.kernel.services import Services, in_read, in_write
from outlast_sandbox.ports.listeners import listening_ports
from outlast_sandbox.providers.unsupported import lacking

MAX_PORT: Final = 65_535
LOOK_S: Final = 2.0  # time limit for finding the listening ports


@dataclass(frozen=True, slots=True)
class Ticket:
    """A new ticket: `secret` is available only here."""

    sandbox_id: str
    port: int
    secret: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Visitor:
    """A user who may see one port of a workspace's sandbox now. `siblings`: the ports of its declared services;
    `image_hosts`: hosts whose images its pages may load, in addition to those of the settings."""

    user_id: str
    workspace_id: str
    project_id: str
    sandbox_id: str
    port: int
    opener: str
    siblings: tuple[int, ...] = ()
    image_hosts: tuple[str, ...] = ()


async def list_ports(services: Services, actor: Actor, sandbox_id: str) -> list[PortAnswer]:
    """The ports of declared services, then other listening ports, by number (members). Wakes nothing: for a sleeping
    sandbox only the declared ports are known."""

    def run(tx: Tx) -> tuple[str, list[ServiceRow]]:
        row = require_sandbox(tx, actor, sandbox_id, Right.READ)
        return row.workspace_id, services_of(tx, row.workspace_id)

    workspace_id, declared = await services.db.read(run)
    listening = await _listening(services, workspace_id)
    named = {service.port: service for service in declared}
    first = [
        PortAnswer(port=port, service=service.name, state=service.state, listening=port in listening)
        for port, service in sorted(named.items())
    ]
    others = sorted(listening - named.keys())
    return first + [PortAnswer(port=port, service=None, state=None, listening=True) for port in others]


async def open_preview(services: Services, actor: Actor, sandbox_id: str, port: int, opener: str) -> Ticket:
    """A ticket for one port, valid for one exchange within a minute (members; viewers for ports of declared services).
    Wakes nothing. `opener` is the origin of the page that may show the preview in a frame. Raises `MalformedInput`,
    `Forbidden`, `SandboxUnavailable`."""
    if not 0 < port <= MAX_PORT:
        raise MalformedInput(f"{port} is not a port; ports are 1 to {MAX_PORT}.", field="port")

    def run(tx: Tx) -> Ticket:
        row = require_sandbox(tx, actor, sandbox_id, Right.READ)
        if not _may_see(tx, actor, row, port):
            raise Forbidden(
                f"Viewers can only see declared services, and port {port} is not one.",
                project_id=row.project_id,
                role=Role.VIEWER.value,
                port=port,
            )
        if not machines_of(services).provider.capabilities.preview:
            lacking("preview", f"port {port} cannot be reached")
        secret, expires_at = tickets.add_ticket(tx, actor, row.workspace_id, port, opener)
        return Ticket(sandbox_id, port, secret, expires_at)

    return await services.db.write(run)


@in_write
def redeem(tx: Tx, secret: str, sandbox_id: str, port: int, *, local_mode: bool) -> str | None:
    """The value of the cookie that a ticket is exchanged for; None if the ticket is not valid for this port, or
    expired."""
    grant = tickets.find_grant(tx, "ticket", secret, sandbox_id, port)
    if grant is None or _visitor(tx, grant, sandbox_id, local_mode) is None:
        return None
    return tickets.exchange(tx, grant.row)


@in_read
def visitor_of(tx: Tx, value: str, sandbox_id: str, port: int, *, local_mode: bool) -> Visitor | None:
    """The visitor with this cookie; None if it is for another port, or its user has signed out or left the project."""
    grant = tickets.find_grant(tx, "cookie", value, sandbox_id, port)
    return None if grant is None else _visitor(tx, grant, sandbox_id, local_mode)


def _visitor(tx: Tx, grant: Grant, sandbox_id: str, local_mode: bool) -> Visitor | None:
    actor = grant.actor
    if actor.via == "local" and not local_mode:
        return None
    if not still_signed_in(tx, actor.token_id, actor.session_hash):
        return None
    try:
        row = require_sandbox(tx, actor, sandbox_id, Right.READ)
    except NotFound:
        return None
    workspace_id, port = grant.row.workspace_id, grant.row.port
    if not _may_see(tx, actor, row, port):
        return None
    return Visitor(
        actor.user_id,
        workspace_id,
        row.project_id,
        sandbox_id,
        port,
        grant.row.opener,
        siblings=tuple(one.port for one in services_of(tx, workspace_id) if one.port != port),
        image_hosts=registry.implementation(IMAGE_HOSTS).allowed_in(tx, workspace_id),
    )


def _may_see(tx: Tx, actor: Actor, sandbox: SandboxRow, port: int) -> bool:
    """True if the actor may see the port: an editor sees all ports, a viewer those of declared services. Raises
    `NotFound` for users who are not members."""
    if allows(require(tx, actor, sandbox.project_id, Right.READ), Right.EDIT):
        return True
    return any(service.port == port for service in services_of(tx, sandbox.workspace_id))


async def _listening(services: Services, workspace_id: str) -> set[int]:
    """The listening ports, without waking anything; a sandbox that falls asleep just then does not answer."""
    row = await services.db.read(store.newest, workspace_id)
    if services.sandboxes.manager is not None and row is not None and row.life.state is State.READY:
        with anyio.move_on_after(LOOK_S), suppress(SandboxUnavailable, SandboxLost, NotFound):
            return await listening_ports(await services.sandboxes.manager.lives.connect(row))
    return set()

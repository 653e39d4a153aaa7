"""Ports of a sandbox that can be seen: those of declared services, and others that something listens on."""

from contextlib import suppress
from typing import Final

import anyio

from outlast.base.errors import NotFound, SandboxLost, SandboxUnavailable
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.previews.shapes import PortAnswer
from outlast.kernel.projects.permissions import require_sandbox
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.rows import ServiceRow
from outlast.kernel.sandboxes.rules import State
from outlast.kernel.sandboxes.services.store import services_of
from outlast.kernel.services import Services
from outlast_sandbox.ports.listening import listening_ports

LOOK_S: Final = 2.0


async def list_ports(services: Services, actor: Actor, sandbox_id: str) -> list[PortAnswer]:
    """The ports of declared services, then others that something listens on, by number (members). Wakes nothing: of a
    sandbox that sleeps only the declared ones are known."""

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


async def _listening(services: Services, workspace_id: str) -> set[int]:
    """What can be read without waking anything; a sandbox that falls asleep just then does not answer."""
    row = await services.db.read(store.newest, workspace_id)
    if services.sandboxes.manager is not None and row is not None and row.life.state is State.READY:
        with anyio.move_on_after(LOOK_S), suppress(SandboxUnavailable, SandboxLost, NotFound):
            return await listening_ports(await services.sandboxes.manager.lives.connect(row))
    return set()

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

LOOK_S: Final = 2.0
OWN_PORTS: Final = frozenset({3128})  # the way out
TABLES: Final = ("/proc/net/tcp", "/proc/net/tcp6")
LISTEN: Final = "0A"


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
    ports: set[int] = set()
    row = await services.db.read(store.newest, workspace_id)
    if services.sandboxes.manager is None or row is None or row.life.state is not State.READY:
        return ports
    with anyio.move_on_after(LOOK_S), suppress(SandboxUnavailable, SandboxLost, NotFound):
        sandbox = await services.sandboxes.manager.lives.connect(row)
        for table in TABLES:
            content = b"".join([piece async for piece in sandbox.files.read(table)])
            ports |= listening_ports(content.decode("latin-1"))
    return ports - OWN_PORTS


def listening_ports(table: str) -> set[int]:
    """The ports of the listening sockets of one of the kernel's tables (`/proc/net/tcp`); lines of another shape are
    passed over."""
    ports = set()
    for line in table.splitlines()[1:]:
        words = line.split()
        if len(words) > 3 and words[3] == LISTEN and ":" in words[1]:
            try:
                ports.add(int(words[1].rsplit(":", 1)[1], 16))
            except ValueError:
                continue
    return ports

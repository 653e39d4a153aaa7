"""A way out to some hosts and nothing else, without secrets: for the building of snapshots."""

import socket
from collections.abc import Sequence

import anyio

from outlast.base.clock import SystemClock
from outlast.base.host_patterns import parse_host_port, parse_pattern
from outlast.kernel.sandboxes.egress.dialing import Dialer, Network, RealNetwork
from outlast.kernel.sandboxes.egress.proxy import SandboxProxy
from outlast.kernel.sandboxes.egress.relay import Relay
from outlast.kernel.sandboxes.egress.rules import Policy
from outlast.kernel.sandboxes.egress.secrets import OperatorSecrets, SandboxSecrets
from outlast.kernel.sandboxes.egress.upstream import Upstreams
from outlast.kernel.sandboxes.egress.uses import NoUses


async def serve_allow_list(
    listener: socket.socket,
    hosts: Sequence[str],
    *,
    allow_private: Sequence[str] = (),
    network: Network | None = None,
) -> None:
    """Let whoever connects to `listener` reach `hosts` (`HOST`, `*.HOST`, each with an optional `:PORT`; without one,
    80 and 443), never a private address unless `allow_private` names it (`HOST:PORT`). TLS passes unread, plain HTTP
    is passed on; all else is answered with a clear 403. Runs until cancelled; owns and closes the listener. Raises
    `NotAHost` for a text that names none."""
    private = frozenset(map(parse_host_port, allow_private))
    policy = Policy(tuple(map(parse_pattern, hosts)), private=private)
    clock = SystemClock()
    dialer = Dialer(policy, network or RealNetwork(), None)
    async with anyio.create_task_group() as tasks:
        upstreams = Upstreams(dialer, clock, tasks.start_soon)
        try:
            relay = Relay(policy, SandboxSecrets({}, "", OperatorSecrets({}), _nobody), upstreams, NoUses())
            await SandboxProxy("", policy, dialer, relay, clock).serve(listener)
        finally:
            upstreams.close()
            tasks.cancel_scope.cancel()


async def _nobody() -> str | None:
    return None

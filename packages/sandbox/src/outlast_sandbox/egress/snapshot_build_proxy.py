"""A proxy for snapshot builds and browsers: it reaches some hosts and nothing else, without secrets."""

import socket
from collections.abc import Callable, Collection, Sequence

import anyio

from outlast_sandbox.clock import SystemClock
from outlast_sandbox.egress.dialer import Dialer, DialInside, Network, RealNetwork
from outlast_sandbox.egress.http1 import RequestHead
from outlast_sandbox.egress.proxy import SandboxProxy
from outlast_sandbox.egress.refusals import Refused
from outlast_sandbox.egress.relay import Relay
from outlast_sandbox.egress.rules import Policy, Target
from outlast_sandbox.egress.secrets import OperatorSecrets, SandboxSecrets
from outlast_sandbox.egress.upstream import Upstreams
from outlast_sandbox.host_patterns import parse_host_port, parse_pattern


async def serve_allow_list(
    listener: socket.socket,
    hosts: Sequence[str],
    *,
    allow_private: Sequence[str] = (),
    network: Network | None = None,
    inside: DialInside | None = None,
    on_refusal: Callable[[Refused], None] | None = None,
) -> None:
    """Let clients that connect to `listener` reach `hosts` (`HOST`, `*.HOST`, each with an optional `:PORT`; without
    one, 80 and 443), never a private address unless `allow_private` names it (`HOST:PORT`). TLS passes unread, plain
    HTTP is passed on; other requests get a 403 with the reason, and `on_refusal` is called with it. Loopback addresses
    that `allow_private` does not name lead to `inside`. Runs until cancelled; owns and closes the listener. Raises
    `NotAHost` for a text that is not a host."""
    private = frozenset(map(parse_host_port, allow_private))
    policy = Policy(tuple(map(parse_pattern, hosts)), private=private)
    clock = SystemClock()
    dialer = Dialer(policy, network or RealNetwork(), None, inside)
    async with anyio.create_task_group() as tasks:
        upstreams = Upstreams(dialer, clock, tasks.start_soon)
        try:
            relay = Relay(policy, SandboxSecrets({}, "", OperatorSecrets({}), _nobody), upstreams, _NoUses())
            await SandboxProxy("", policy, dialer, relay, clock, on_refusal=on_refusal).serve(listener)
        finally:
            upstreams.close()
            tasks.cancel_scope.cancel()


async def _nobody() -> str | None:
    return None


class _NoUses:
    """For a proxy without secrets."""

    async def record(
        self,
        names: Sequence[str],
        user_id: str | None,
        target: Target,
        head: RequestHead,
        status: int | None,
        own: Collection[str],
    ) -> None:
        raise AssertionError("there is no secret to use")

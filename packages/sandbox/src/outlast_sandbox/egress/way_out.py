"""Network access of sandboxes: authority and placeholders before one starts, a proxy while it lives.

egress = Egress(policy, SystemClock(), Path("egress"))
sandbox = await provider.create(await egress.prepare(spec))
async with egress.proxy(sandbox, "project", OperatorSecrets(), no_user, uses) as proxy:
    await proxy.serve(await sandbox.egress_listener())
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from outlast_sandbox.clock import Clock
from outlast_sandbox.egress.authority_store import Authorities, write_private
from outlast_sandbox.egress.dialer import Dialer, Network, RealNetwork, TlsContexts, contexts_trusting
from outlast_sandbox.egress.proxy import SandboxProxy
from outlast_sandbox.egress.relay import Relay, Uses
from outlast_sandbox.egress.rules import LOOPBACK_NAMES, Policy, direct_names, names
from outlast_sandbox.egress.secrets import SandboxSecrets, SecretLookup, WhoseWork, placeholder
from outlast_sandbox.egress.upstream import Upstreams
from outlast_sandbox.interface import Sandbox, SandboxSpec

KEY: Final = "placeholders.key"
KEY_BYTES: Final = 32


class Egress:
    """In memory: the key of placeholders. The key and each sandbox's authority are stored in `folder`, so that a
    restarted program keeps both."""

    def __init__(
        self,
        policy: Policy,
        clock: Clock,
        folder: Path,
        network: Network | None = None,
        contexts: TlsContexts | None = None,
    ) -> None:
        self.policy, self.folder, self._clock = policy, folder, clock
        self._network = network or RealNetwork()
        self._contexts = contexts
        self.authorities = Authorities(folder)
        self._key = b""
        self._reading = anyio.Lock()

    async def prepare(self, spec: SandboxSpec, policy: Policy | None = None) -> SandboxSpec:
        """The spec of a sandbox about to start, with the settings for its proxy; unchanged if the policy allows
        nothing. `policy`: this sandbox's own, in place of the one for all. Idempotent: a sandbox that starts again gets
        the same authority and placeholders. Raises `OSError`."""
        policy = policy or self.policy
        if not policy.opens:
            return spec
        authority = await anyio.to_thread.run_sync(self.authorities.of, spec.sandbox_id)
        placeholders = await self.placeholders(spec.sandbox_id, policy)
        env = {**placeholders, **_direct_environment(policy), **spec.env}
        return replace(spec, env=env, authority_pem=authority.pem, egress=True)

    @asynccontextmanager
    async def proxy(
        self,
        sandbox: Sandbox,
        project_id: str,
        lookup: SecretLookup,
        whose: WhoseWork,
        uses: Uses,
        policy: Policy | None = None,
    ) -> AsyncIterator[SandboxProxy]:
        """The proxy of a living sandbox, ready to `serve` its listener; its connections end with the block. `policy` as
        in `prepare`. Raises `OSError`."""
        policy = policy or self.policy
        secrets = SandboxSecrets(await self.placeholders(sandbox.sandbox_id, policy), project_id, lookup, whose)
        authority = await anyio.to_thread.run_sync(self.authorities.of, sandbox.sandbox_id)
        dialer = Dialer(policy, self._network, await self._tls_contexts(), sandbox.dial)
        async with anyio.create_task_group() as tasks:
            upstreams = Upstreams(dialer, self._clock, tasks.start_soon)
            try:
                relay = Relay(policy, secrets, upstreams, uses)
                yield SandboxProxy(sandbox.sandbox_id, policy, dialer, relay, self._clock, authority)
            finally:
                upstreams.close()
                tasks.cancel_scope.cancel()

    async def placeholders(self, sandbox_id: str, policy: Policy | None = None) -> dict[str, str]:
        """The placeholders in the sandbox's environment, by the name of their secret. `policy` as in `prepare`."""
        async with self._reading:  # concurrent callers would create two keys
            if not self._key:
                self._key = await anyio.to_thread.run_sync(_read_key, self.folder / KEY)
        return {name: placeholder(self._key, sandbox_id, name) for name in names(policy or self.policy)}

    async def _tls_contexts(self) -> TlsContexts:
        async with self._reading:
            if self._contexts is None:
                self._contexts = await anyio.to_thread.run_sync(contexts_trusting)
            return self._contexts


def _read_key(path: Path) -> bytes:
    """The key for placeholders; created at the first call. Blocks."""
    try:
        key = path.read_bytes()
        if len(key) == KEY_BYTES:
            return key
    except FileNotFoundError:
        pass
    key = os.urandom(KEY_BYTES)
    write_private(path, key)
    return key


def _direct_environment(policy: Policy) -> dict[str, str]:
    """Clients connect directly to loopback addresses, without the proxy, except to those that `private` names: these
    mean the server's own. Other loopback requests that use the proxy are sent back into the sandbox."""
    names = direct_names(policy)
    if len(names) == len(LOOPBACK_NAMES):
        return {}
    direct = ",".join(names)
    return {"NO_PROXY": direct, "no_proxy": direct}

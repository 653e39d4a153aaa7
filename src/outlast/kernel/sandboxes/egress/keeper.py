"""Gives every sandbox its way out: authority and placeholders before it starts, a proxy while it lives."""

import logging
import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from outlast.base.clock import Clock
from outlast.base.errors import SandboxUnavailable
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.database import Database
from outlast.kernel.sandboxes.egress import store
from outlast.kernel.sandboxes.egress.uses import UseLog
from outlast.kernel.sandboxes.store import SandboxRecord, unknown
from outlast.kernel.sandboxes.translation import untranslated
from outlast.kernel.set_aside.kinds import SANDBOX_EGRESS
from outlast_sandbox.egress.authorities import Authorities, write_private
from outlast_sandbox.egress.dialer import Dialer, Network, RealNetwork, TlsContexts, contexts_trusting
from outlast_sandbox.egress.proxy import EgressStatistics, SandboxProxy
from outlast_sandbox.egress.relay import Relay
from outlast_sandbox.egress.rules import LOOPBACK_NAMES, Policy, direct_names, names
from outlast_sandbox.egress.secrets import OperatorSecrets, SandboxSecrets, SecretLookup, placeholder
from outlast_sandbox.egress.upstream import Upstreams
from outlast_sandbox.interface import Sandbox, SandboxSpec

KEY: Final = "placeholders.key"
KEY_BYTES: Final = 32
USER_KNOWN_S: Final = 1.0
log = logging.getLogger("outlast.egress")


@dataclass(eq=False, slots=True)
class Gate:
    """One sandbox's way out while it is served."""

    scope: anyio.CancelScope
    proxy: SandboxProxy | None = None


class EgressKeeper:
    """The `WayOut` of the sandbox manager. In memory: the proxies of living sandboxes, and the key of placeholders; the
    key and each sandbox's authority are stored in `folder`, so that a restarted server continues with both. Without
    anything to reach in the policy nothing is opened, and sandboxes have no network at all."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        policy: Policy,
        folder: Path,
        *,
        lookup: SecretLookup | None = None,
        network: Network | None = None,
        contexts: TlsContexts | None = None,
        supervisor: Supervisor | None = None,
    ) -> None:
        self._db, self._clock, self.policy, self._folder = db, clock, policy, folder
        self._supervisor = supervisor or Supervisor(clock)
        self._lookup = lookup or OperatorSecrets()
        self._network = network or RealNetwork()
        self._contexts = contexts
        self._authorities = Authorities(folder)
        self._earlier = frozenset(self._authorities.kept())  # made by an earlier server, maybe with other settings
        self.uses = UseLog(db, clock)
        self._key = b""
        self._users: dict[str, tuple[float, str | None]] = {}
        self._news = 0
        self._gates: dict[str, Gate] = {}
        self._opened: dict[str, tuple[SandboxRecord, Sandbox]] = {}
        self._tasks: TaskGroup | None = None
        self._reading = anyio.Lock()

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to reach, or a sandbox that could reach something under earlier settings."""
        return self.policy.opens or bool(self._earlier)

    def statistics(self) -> dict[str, EgressStatistics]:
        """By sandbox id."""
        return {key: gate.proxy.statistics() for key, gate in self._gates.items() if gate.proxy is not None}

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled; the sandboxes keep running, and the next server serves them."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                tasks.start_soon(self._supervisor.keep, "log of secret uses", self.uses.run)
                for row, sandbox in list(self._opened.values()):
                    self.open(row, sandbox)
                await self._forget_ended()
                task_status.started()
                await anyio.sleep_forever()
            finally:
                self._tasks = None

    async def prepare(self, row: SandboxRecord, spec: SandboxSpec) -> SandboxSpec:
        """The spec of a sandbox about to start, with what belongs to its way out. Repeatable: a sandbox that was
        stopped gets the same authority and placeholders again."""
        if not self.policy.opens:
            return spec
        try:
            authority = await anyio.to_thread.run_sync(self._authorities.of, row.id)
            placeholders = await self._placeholders(row.id)
        except OSError as error:
            raise SandboxUnavailable(
                f"The sandbox's network access cannot be prepared: {error.strerror}.",
                hint=f"Free space, or give the server the right to write in {self._folder}.",
                sandbox_id=row.id,
            ) from error
        env = {**placeholders, **_led_through(self.policy), **spec.env}
        return replace(spec, env=env, authority_pem=authority.pem, egress=True)

    def open(self, row: SandboxRecord, sandbox: Sandbox) -> None:
        """It lives: serve it. Repeatable; neither waits nor raises."""
        if row.id in self._gates or not (self.policy.opens or row.id in self._earlier):
            return
        self._opened[row.id] = row, sandbox
        if self._tasks is None:
            return
        gate = self._gates[row.id] = Gate(anyio.CancelScope())
        self._tasks.start_soon(self._keep_serving, row, sandbox, gate)

    def hear(self, _stream_id: str) -> None:
        """Something was committed: a run may have begun or ended."""
        self._news += 1
        self._users.clear()

    def close(self, sandbox_id: str, *, for_good: bool) -> None:
        """Its processes have ended; `for_good`: they never start again, so its authority is forgotten."""
        self._opened.pop(sandbox_id, None)
        gate = self._gates.pop(sandbox_id, None)
        if gate is not None:
            gate.scope.cancel()
        if for_good:
            try:
                self._authorities.remove(sandbox_id)
            except OSError as error:  # `run` tries again at the next start
                log.warning("authority not removed", extra={"sandbox": sandbox_id, "reason": str(error)})

    async def _keep_serving(self, row: SandboxRecord, sandbox: Sandbox, gate: Gate) -> None:
        """Until it is closed, or its listener is gone. One that cannot be served does not affect others."""
        try:
            with gate.scope:
                await self._supervisor.guard.keep(SANDBOX_EGRESS, row.id, self._serve, row, sandbox, gate)
        finally:
            if self._gates.get(row.id) is gate:
                del self._gates[row.id]

    async def _serve(self, row: SandboxRecord, sandbox: Sandbox, gate: Gate) -> None:
        whose = partial(self._whose, row.workspace_id)
        placeholders = await self._placeholders(row.id)
        secrets = SandboxSecrets(placeholders, row.project_id, self._lookup, whose)
        authority = await anyio.to_thread.run_sync(self._authorities.of, row.id)
        dialer = Dialer(self.policy, self._network, await self._tls_contexts(), untranslated(sandbox).dial)
        async with anyio.create_task_group() as tasks:
            upstreams = Upstreams(dialer, self._clock, tasks.start_soon)
            try:
                relay = Relay(self.policy, secrets, upstreams, self.uses.of(row.id, row.project_id))
                gate.proxy = SandboxProxy(row.id, self.policy, dialer, relay, self._clock, authority)
                await gate.proxy.serve(await sandbox.egress_listener())
            finally:
                upstreams.close()
                tasks.cancel_scope.cancel()

    async def _whose(self, workspace_id: str) -> str | None:
        """The user for whom the run there works, at most a second old: any commit makes it be looked up again."""
        found = self._users.get(workspace_id)
        now = self._clock.monotonic()
        if found is None or found[0] < now:
            seen = self._news
            user_id = await self._db.read(store.user_of, workspace_id)
            if seen != self._news:  # something changed while it was read: good for this request only
                return user_id
            found = self._users[workspace_id] = now + USER_KNOWN_S, user_id
        return found[1]

    async def _placeholders(self, sandbox_id: str) -> dict[str, str]:
        async with self._reading:  # two that make it at a time make two
            if not self._key:
                self._key = await anyio.to_thread.run_sync(read_key, self._folder / KEY)
        return {name: placeholder(self._key, sandbox_id, name) for name in names(self.policy)}

    async def _tls_contexts(self) -> TlsContexts:
        async with self._reading:
            if self._contexts is None:
                self._contexts = await anyio.to_thread.run_sync(contexts_trusting)
            return self._contexts

    async def _forget_ended(self) -> None:
        """Remove the authorities of sandboxes that ended while no server ran."""
        kept = await anyio.to_thread.run_sync(self._authorities.kept)
        for sandbox_id in await self._db.read(unknown, kept) if kept else ():
            self._authorities.remove(sandbox_id)


def read_key(path: Path) -> bytes:
    """The key that placeholders are made with; made at the first call. Blocking."""
    try:
        key = path.read_bytes()
        if len(key) == KEY_BYTES:
            return key
    except FileNotFoundError:
        pass
    key = os.urandom(KEY_BYTES)
    write_private(path, key)
    return key


def _led_through(policy: Policy) -> dict[str, str]:
    """Clients go straight to loopback addresses, past the proxy, except to those that an exception names: there the
    server's own is meant. What is not led out then comes back to the sandbox through the proxy."""
    names = direct_names(policy)
    if len(names) == len(LOOPBACK_NAMES):
        return {}
    direct = ",".join(names)
    return {"NO_PROXY": direct, "no_proxy": direct}

"""Network access of every sandbox: authority and placeholders before it starts, a proxy while it lives."""

import logging
from functools import partial
from pathlib import Path
from typing import Final, Protocol

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from outlast.base.clock import Clock
from outlast.base.errors import SandboxUnavailable
from outlast.base.records import dataclass
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.database import Database
from outlast.kernel.sandboxes.egress import store
from outlast.kernel.sandboxes.egress.policy import with_saved
from outlast.kernel.sandboxes.egress.uses import UseLog
from outlast.kernel.sandboxes.store import SandboxRecord, unknown
from outlast.kernel.sandboxes.translation import untranslated
from outlast.kernel.secrets import store as saved
from outlast.kernel.secrets.saved_secrets import for_its_hosts
from outlast.kernel.set_aside.kinds import SANDBOX_EGRESS
from outlast_sandbox.egress.dialer import Network, TlsContexts
from outlast_sandbox.egress.proxy import EgressStatistics, SandboxProxy
from outlast_sandbox.egress.rules import Policy, names
from outlast_sandbox.egress.secrets import OperatorSecrets, SecretLookup
from outlast_sandbox.egress.way_out import Egress
from outlast_sandbox.interface import Sandbox, SandboxSpec


class MoreSecrets(Protocol):
    """Secrets beside those of the settings and the saved ones."""

    def widened(self, policy: Policy) -> Policy:
        """The policy with their hosts."""

    def beside(self, others: SecretLookup, workspace_id: str, policy: Policy) -> SecretLookup:
        """The look-up of a sandbox with this policy: theirs for the hosts that they are for, otherwise `others`."""


USER_KNOWN_S: Final = 1.0
log = logging.getLogger("outlast.egress")


@dataclass(eq=False, slots=True)
class Gate:
    """One sandbox's proxy while it is served."""

    scope: anyio.CancelScope
    proxy: SandboxProxy | None = None


class EgressKeeper:
    """The `WayOut` of the sandbox manager. In memory: the proxies of living sandboxes; state that must outlast the
    server is in `folder` (see `Egress`). A sandbox for which neither the policy nor a saved secret of its project
    allows a host has no network at all."""

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
        self._db, self._clock = db, clock
        self._egress = Egress(policy, clock, folder, network, contexts)
        self._supervisor = supervisor or Supervisor(clock)
        self.policy, self.lookup = policy, lookup or OperatorSecrets()
        self.more: MoreSecrets | None = None
        self._with_access = set(self._egress.authorities.kept())  # also of an earlier server, maybe with other settings
        self.uses = UseLog(db, clock)
        self._users: dict[str, tuple[float, str | None]] = {}
        self._news = 0
        self._gates: dict[str, Gate] = {}
        self._opened: dict[str, tuple[SandboxRecord, Sandbox]] = {}
        self._tasks: TaskGroup | None = None

    def statistics(self) -> dict[str, EgressStatistics]:
        """By sandbox id."""
        return {key: gate.proxy.statistics() for key, gate in self._gates.items() if gate.proxy is not None}

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled; the sandboxes keep running, and the next server serves them."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                tasks.start_soon(self._supervisor.keep, "log of secret uses", self.uses.run)
                for row, sandbox in list(self._opened.values()):  # reported before this ran, or by a run that failed
                    self.open(row, sandbox)
                await self._forget_ended()  # `close` failed, or no server ran
                task_status.started()
                await anyio.sleep_forever()
            finally:
                self._tasks = None

    async def prepare(self, row: SandboxRecord, spec: SandboxSpec) -> SandboxSpec:
        """As `Egress.prepare`, with the saved secrets of the sandbox's project."""
        try:
            prepared = await self._egress.prepare(spec, await self._policy_of(row))
        except OSError as error:
            raise SandboxUnavailable(
                f"The sandbox's network access cannot be prepared: {error.strerror}.",
                hint=f"Free space, or give the server the right to write in {self._egress.folder}.",
                sandbox_id=row.id,
            ) from error
        if prepared.egress:
            self._with_access.add(row.id)
        return prepared

    async def placeholders(self, sandbox_id: str) -> dict[str, str]:
        """What stands for each secret in this sandbox, by the secret's name."""
        opened = self._opened.get(sandbox_id)
        policy = self._egress.policy if opened is None else await self._policy_of(opened[0])
        return await self._egress.placeholders(sandbox_id, policy)

    def open(self, row: SandboxRecord, sandbox: Sandbox) -> None:
        """It lives: serve it. Repeatable; neither waits nor raises."""
        if row.id in self._gates or row.id not in self._with_access:
            return
        self._opened[row.id] = row, sandbox
        if self._tasks is None:  # `run` opens it
            return
        gate = self._gates[row.id] = Gate(anyio.CancelScope())
        self._tasks.start_soon(self._keep_serving, row, sandbox, gate)

    def on_commit(self, _stream_id: str) -> None:
        """A commit may have begun or ended a run."""
        self._news += 1  # counted, so that a query in progress is not cached
        self._users.clear()

    def close(self, sandbox_id: str, *, for_good: bool) -> None:
        """Its processes have ended; `for_good`: they never start again, so its authority is forgotten."""
        self._opened.pop(sandbox_id, None)  # otherwise the next `run` would open it again
        gate = self._gates.pop(sandbox_id, None)
        if gate is not None:
            gate.scope.cancel()
        if for_good:
            self._with_access.discard(sandbox_id)
            try:
                self._egress.authorities.remove(sandbox_id)
            except OSError as error:  # `run` tries again at the next start
                log.warning("authority not removed", extra={"sandbox": sandbox_id, "reason": str(error)})

    async def _keep_serving(self, row: SandboxRecord, sandbox: Sandbox, gate: Gate) -> None:
        """Until it is closed, or its listener is gone. One that cannot be served does not affect others."""
        try:
            with gate.scope:
                await self._supervisor.guard.keep(SANDBOX_EGRESS, row.id, self._serve, row, sandbox, gate)
        finally:
            if self._gates.get(row.id) is gate:  # it may have been closed and opened again
                del self._gates[row.id]

    async def _serve(self, row: SandboxRecord, sandbox: Sandbox, gate: Gate) -> None:
        whose = partial(self._whose, row.workspace_id)
        inner, uses = untranslated(sandbox), self.uses.of(row.id, row.project_id)
        policy = await self._policy_of(row)
        lookup = self.lookup_for(policy)
        if self.more is not None:
            lookup = self.more.beside(lookup, row.workspace_id, policy)
        async with self._egress.proxy(inner, row.project_id, lookup, whose, uses, policy) as proxy:
            gate.proxy = proxy
            await proxy.serve(await sandbox.egress_listener())

    def lookup_for(self, policy: Policy) -> SecretLookup:
        """The look-up of a sandbox with this policy."""
        return for_its_hosts(self._db, self.lookup, policy, names(self._egress.policy))

    async def _policy_of(self, row: SandboxRecord) -> Policy:
        settled = self._egress.policy if self.more is None else self.more.widened(self._egress.policy)
        user_id = await self._db.read(store.user_of, row.workspace_id)
        return with_saved(settled, await self._db.read(saved.hosts_of, row.project_id, user_id))

    async def _whose(self, workspace_id: str) -> str | None:
        """The user of the run that works there, at most a second old: any commit causes a new query."""
        found = self._users.get(workspace_id)
        now = self._clock.monotonic()
        if found is None or found[0] < now:
            seen = self._news
            user_id = await self._db.read(store.user_of, workspace_id)
            if seen != self._news:  # something changed during the query: valid for this request only
                return user_id
            found = self._users[workspace_id] = now + USER_KNOWN_S, user_id
        return found[1]

    async def _forget_ended(self) -> None:
        """Remove the authorities of sandboxes that ended while no server ran."""
        kept = await anyio.to_thread.run_sync(self._egress.authorities.kept)
        for sandbox_id in await self._db.read(unknown, kept) if kept else ():
            self._egress.authorities.remove(sandbox_id)

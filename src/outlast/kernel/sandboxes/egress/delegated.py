"""Network access through a provider that controls it: hosts and secrets are passed to the provider at the start.

The secrets' values then leave this machine, and the provider does not ask again for later requests: runs of other
people in the same sandbox use them, too. So it gets none that a person saved for their own runs. Those of the
configuration are as its look-up has them for the user for whom the sandbox is created. Uses are in the provider's log,
not in ours.
"""

from dataclasses import replace

from outlast.db.database import Database
from outlast.kernel.sandboxes.egress import store
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.store import SandboxRecord
from outlast.kernel.secrets.store import hosts_of
from outlast_sandbox.egress.secrets import OperatorSecrets, SecretLookup
from outlast_sandbox.interface import Sandbox, SandboxSpec, WireSecret


class HandedOver:
    """A `WayOut` that keeps no state."""

    def __init__(self, db: Database, settings: SandboxSettings, *, lookup: SecretLookup | None = None) -> None:
        self._db = db
        self._settings = settings
        self._lookup = lookup or OperatorSecrets()

    async def prepare(self, row: SandboxRecord, spec: SandboxSpec) -> SandboxSpec:
        """The spec with the reachable hosts, and each secret that has a value."""
        hosts = [*self._settings.allow_hosts]
        by_secret: dict[str, list[str]] = {}
        shared: set[str] = set()
        for dependency in self._settings.dependencies:
            hosts += dependency.hosts
            if dependency.secret_env:
                by_secret.setdefault(dependency.secret_env, []).extend(dependency.hosts)
        user_id = await self._db.read(store.user_of, row.workspace_id)
        for saved in await self._db.read(hosts_of, row.project_id, None):
            if saved.name not in by_secret:
                shared.add(saved.name)
                by_secret[saved.name] = saved.hosts
                hosts += saved.hosts
        secrets: dict[str, WireSecret] = {}
        for name, its_hosts in by_secret.items():
            value = await self._lookup(None if name in shared else user_id, row.project_id, name)
            if value and its_hosts:
                secrets[name] = WireSecret(tuple(dict.fromkeys(its_hosts)), value)
        return replace(spec, allow_hosts=tuple(dict.fromkeys(hosts)), secrets=secrets)

    def open(self, row: SandboxRecord, sandbox: Sandbox) -> None:
        """The provider has already opened it."""

    def close(self, sandbox_id: str, *, for_good: bool) -> None:
        """It ended with the sandbox."""

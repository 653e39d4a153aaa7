"""Looks up the values of saved secrets, at each use."""

from collections.abc import Collection

from outlast.db.database import Database
from outlast.kernel.secrets import store
from outlast.kernel.secrets.vault import Vault
from outlast_sandbox.egress.rules import Policy
from outlast_sandbox.egress.secrets import OwnSecret, SecretLookup
from outlast_sandbox.host_patterns import parse_pattern


def for_its_hosts(db: Database, others: SecretLookup, policy: Policy, settled: Collection[str]) -> SecretLookup:
    """The look-up of a sandbox with this policy: a saved secret has a value only if it is for all hosts of the rule.
    Otherwise the rule is that of another secret of this name, such as another person's own, and the value would go to
    hosts that were never meant. `settled`: names that the settings declare."""
    ruled = {rule.name: {str(host) for host in rule.hosts} for rule in policy.secrets}

    async def look_up(user_id: str | None, project_id: str, name: str) -> str | None:
        if name not in settled:
            opened = await db.read(store.hosts_of, project_id, user_id)
            meant = next((one.hosts for one in opened if one.name == name), [])
            if not ruled.get(name, set()) <= {str(parse_pattern(host)) for host in meant}:
                return None
        return await others(user_id, project_id, name)

    return look_up


class SavedSecrets:
    """A `SecretLookup`: names that the settings declare are looked up by `configured`, all others in the database. A
    secret that was deleted has no value any more. The value of a person's own secret is an `OwnSecret`."""

    def __init__(self, db: Database, vault: Vault, configured: SecretLookup, names: Collection[str]) -> None:
        self._db, self._vault = db, vault
        self._configured, self._names = configured, frozenset(names)

    async def __call__(self, user_id: str | None, project_id: str, name: str) -> str | None:
        if name in self._names:
            return await self._configured(user_id, project_id, name)
        found = await self._db.read(store.sealed_of, project_id, user_id, name)
        if found is None:
            return None
        if found.own is not None and user_id is not None:
            value = self._vault.open(found.own, store.about(found.id, user_id))
        elif found.sealed is not None:
            value = self._vault.open(found.sealed, store.about(found.id))
        else:
            return None
        return OwnSecret(value) if found.owner_id is not None else value

"""Network access of MCP servers that are packages: the hosts that their owner names, and placeholders of secrets."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio

from outlast.base.clock import Clock
from outlast.base.mcp_errors import McpSecretUnusable
from outlast.db.database import Database
from outlast.kernel.sandboxes.egress.keeper import EgressKeeper
from outlast.kernel.sandboxes.translation import untranslated
from outlast.kernel.secrets import store as secrets
from outlast_sandbox.egress.rules import Policy, SecretRule
from outlast_sandbox.egress.way_out import Egress
from outlast_sandbox.host_patterns import parse_pattern
from outlast_sandbox.interface import Sandbox, SandboxSpec


class PackageNetwork:
    """Beside the network access of other sandboxes, whose rules and log it shares."""

    def __init__(self, db: Database, clock: Clock, folder: Path, egress: EgressKeeper) -> None:
        """`folder` keeps the authorities of living sandboxes."""
        self._db, self._others = db, egress
        self._egress = Egress(Policy(), clock, folder)

    async def policy(
        self, server: str, hosts: Sequence[str], names: Sequence[str], project_id: str, user_id: str
    ) -> Policy:
        """What a server may reach. Raises `McpSecretUnusable` for a secret that is not saved."""
        known = {rule.name: rule for rule in self._others.policy.secrets}
        for one in await self._db.read(secrets.hosts_of, project_id, user_id):
            known.setdefault(one.name, SecretRule(one.name, tuple(map(parse_pattern, one.hosts))))
        for name in names:
            if name not in known:
                raise McpSecretUnusable(f"There is no secret {name} for the MCP server {server}.", secret=name)
        allow, rules = tuple(map(parse_pattern, hosts)), tuple(known[name] for name in names)
        opened = [*allow, *(pattern for rule in rules for pattern in rule.hosts)]
        private = [place for place in self._others.policy.private if any(one.matches(*place) for one in opened)]
        return Policy(allow, rules, frozenset(private).union(*(rule.private for rule in rules)))

    async def prepare(self, spec: SandboxSpec, policy: Policy) -> SandboxSpec:
        """The spec with this access. Raises `OSError`."""
        return await self._egress.prepare(spec, policy)

    @asynccontextmanager
    async def serving(
        self, box: Sandbox, policy: Policy, whose: str, project_id: str, user_id: str
    ) -> AsyncIterator[None]:
        """Serve a sandbox's access for this user, with the secrets of the project `whose`, as the policy has them. Uses
        are logged in the run's project."""
        inner, uses = untranslated(box), self._others.uses.of(box.sandbox_id, project_id)

        async def user() -> str:
            return user_id

        try:
            async with (
                self._egress.proxy(inner, whose, self._others.lookup_for(policy), user, uses, policy) as proxy,
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(partial(proxy.serve, await inner.egress_listener()))
                yield
                tasks.cancel_scope.cancel()
        finally:
            self._egress.authorities.remove(box.sandbox_id)

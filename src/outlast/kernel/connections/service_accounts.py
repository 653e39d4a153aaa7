"""The accounts of people on services, as agents use them: a tool and a function that connect one, and the placeholders
of its tokens in sandboxes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from outlast.base.agent_errors import UnknownConnection
from outlast.base.connection_errors import ConnectionNeeded
from outlast.db.database import Database, Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.context import Context, Journal
from outlast.kernel.agents.tool import Tool, ToolResult
from outlast.kernel.connections import store
from outlast.kernel.connections.account_tokens import Account, AccountTokens
from outlast.kernel.connections.services import Service
from outlast.kernel.runs.shapes import AccountData
from outlast.kernel.runs.transcript import Run
from outlast.kernel.sandboxes.egress.store import worker_of
from outlast_sandbox.egress.rules import Policy, SecretRule
from outlast_sandbox.egress.secrets import SecretLookup
from outlast_sandbox.host_patterns import NotAHost, parse_host_port, parse_pattern

if TYPE_CHECKING:
    from pydantic import BaseModel

NOT_CONNECTED: Final = (
    "The person did not connect their account on {title}. Go on without it unless the person asks for it."
)
TO_CONNECT: Final = (
    "Check that the person's account on {title} is connected, and let them connect it if it is not. Call it before "
    "code uses {title}, and when {title} refuses the token. Code in the sandbox finds a placeholder for the token in "
    "the environment variable {variable}: put it into the header Authorization as `Bearer ${variable}`, and the server "
    "replaces it in requests to {hosts}."
)
WORKS: Final = "The account on {title} is connected{name}. Code finds the placeholder of its token in ${variable}."


class ServiceAccounts:
    """One per server; keeps nothing."""

    def __init__(self, db: Database, tokens: AccountTokens) -> None:
        self._db, self._tokens = db, tokens

    @property
    def _services(self) -> Mapping[str, Service]:
        return self._tokens.oauth.services

    def of(self, agent: Agent) -> list[Service]:
        """The services that an agent may use, in the order of the configuration."""
        return [one for one in self._services.values() if one.is_for(agent.name, agent.connections)]

    def tools(self, agent: Agent) -> list[Tool]:
        """A tool for each service of an agent, which connects the person's account."""
        return [self._tool(agent, service) for service in self.of(agent)]

    async def connect(self, journal: Journal, run: Run, agent: Agent, name: str) -> tuple[Service, str | None]:
        """Check that the user who started the run has a working account on a service of the agent; if not, they are
        asked to connect it, and the run waits. Returns the service, and the name of the account: None if the person
        goes on without it. Raises `UnknownConnection`, `SignInFailed`."""
        service = next((one for one in self.of(agent) if one.name == name), None)
        if service is None:
            known = [one.name for one in self.of(agent)]
            text = f"There is no connection {name!r} for this agent. It may use: {', '.join(known) or 'none'}."
            raise UnknownConnection(text, connection=name, known=known)
        row = await self._db.read(store.service_row, service)
        user_id = run.started_by
        account = AccountData(server_id=row.id, server=service.title, host=service.host, user_id=user_id)

        async def work() -> str:
            return await self._tokens.test(Account(user_id, row.id, service.title), service)

        def is_connected(tx: Tx) -> bool:
            return store.is_connected(tx, user_id, row.id)

        return service, await journal.with_account(account, work, is_connected)

    async def demand(self, journal: Journal, run: Run, agent: Agent, name: str) -> str:
        """As `connect`. Returns the variable of the placeholder. Raises `ConnectionNeeded` if the person goes on
        without an account."""
        service, account = await self.connect(journal, run, agent, name)
        if account is None:
            text = f"The person did not connect their account on {service.title}."
            raise ConnectionNeeded(text, server=service.title)
        return service.variable

    def _tool(self, agent: Agent, service: Service) -> Tool:
        async def connect(context: Context, _arguments: Mapping[str, Any]) -> ToolResult:
            _, name = await self.connect(context.journal, context.this_run, agent, service.name)
            if name is None:
                return ToolResult(NOT_CONNECTED.format(title=service.title), is_error=True)
            as_name = f" as {name}" if name else ""
            return ToolResult(WORKS.format(title=service.title, name=as_name, variable=service.variable))

        hosts = ", ".join(service.hosts)
        description = TO_CONNECT.format(title=service.title, variable=service.variable, hosts=hosts)
        return Tool(f"{service.name}__connect", description, _no_arguments, connect, repeatable=True)


class AccountSecrets:
    """The tokens of accounts as secrets of sandboxes: only while a run works there whose agent may use the service, and
    only of the person who started it. `find_agent`: an agent by name."""

    def __init__(self, db: Database, tokens: AccountTokens, find_agent: Mapping[str, Agent]) -> None:
        self._db, self._tokens, self._agents = db, tokens, find_agent
        self._by_variable = {one.variable: one for one in tokens.oauth.services.values()}

    def widened(self, policy: Policy) -> Policy:
        """The policy, and the hosts of services. A name that the policy has stays as it is."""
        known = {rule.name for rule in policy.secrets}
        rules = [self._rule(one) for name, one in self._by_variable.items() if name not in known]
        private = policy.private.union(*(rule.private for rule in rules))
        return replace(policy, secrets=(*policy.secrets, *rules), private=private) if rules else policy

    def beside(self, others: SecretLookup, workspace_id: str, policy: Policy) -> SecretLookup:
        """The look-up of a sandbox with this policy: it gives tokens only to names whose rule is that of the service.
        The value of another secret of that name is for `others` to give."""
        rules = {name: self._rule(one) for name, one in self._by_variable.items()}
        mine = {rule.name for rule in policy.secrets if rule == rules.get(rule.name)}

        async def look_up(user_id: str | None, project_id: str, name: str) -> str | None:
            if name not in mine:
                return await others(user_id, project_id, name)
            service = self._by_variable[name]
            worker = await self._db.read(worker_of, workspace_id)
            if worker is None or not worker.is_at_work or worker.profile not in self._agents:
                return None
            if not service.is_for(worker.profile, self._agents[worker.profile].connections):
                return None
            row = await self._db.read(store.service_row, service)
            try:
                return await self._tokens.use(Account(worker.started_by, row.id, service.title), _itself)
            except ConnectionNeeded:
                return None

        return look_up

    def _rule(self, service: Service) -> SecretRule:
        private = [place for place in map(_place, service.hosts) if place in self._tokens.oauth.allowed]
        return SecretRule(service.variable, tuple(map(parse_pattern, service.hosts)), frozenset(private))


async def _itself(access: str) -> str:
    return access


def _place(text: str) -> tuple[str, int]:
    try:
        return parse_host_port(text)
    except NotAHost:
        return text, 0


def _no_arguments() -> "type[BaseModel]":
    from outlast.kernel.agents.arguments import Arguments

    return Arguments

"""Settings of connections."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from outlast.base.errors import MalformedInput
from outlast.base.records import dataclass
from outlast.base.settings.checks import VARIABLE, Where, check_address, check_each, refuse
from outlast.base.settings.fields import setting
from outlast.kernel.secrets.rules import checked_name
from outlast_sandbox.host_patterns import parse_pattern

KINDS: Final = ("generic", "github", "google", "linear", "slack")
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,23}\Z")


@dataclass(frozen=True, slots=True)
class ConnectionClient:
    """A service on which people connect accounts, for the sandboxes of agents (`kind`); or this server as a client of
    an authorization server that signs people in to MCP servers (`issuer` alone)."""

    client_id: str = setting("Client id that the other server gave to this server.")
    secret_env: str = setting("Environment variable that holds the client secret; empty if there is none.", "")
    issuer: str = setting("Issuer of the authorization server, as its metadata or its answers name it.", "")
    kind: str = setting("For a service: generic, github, google, linear or slack.", "")
    name: str = setting("Name by which agents ask for the service; empty: its kind.", "")
    title: str = setting("Name of the service for people; empty: that of its kind.", "")
    scopes: tuple[str, ...] = setting("Scopes to ask for; empty: those of its kind.", ())
    variable: str = setting(
        "Environment variable that holds the token's placeholder in sandboxes; empty: the name and _TOKEN.", ""
    )
    hosts: tuple[str, ...] = setting("Hosts that tokens may be sent to; empty: those of its kind.", ())
    agents: tuple[str, ...] = setting("Agents that may use it, beside those whose code names it.", ())
    authorization_url: str = setting("Address at which people sign in; empty: that of its kind.", "")
    token_url: str = setting("Address of the token endpoint; empty: that of its kind.", "")
    revocation_url: str = setting("Address at which a token is revoked; empty: that of its kind.", "")
    test_url: str = setting("Address that answers with the name of the account; empty: that of its kind.", "")

    @property
    def service_name(self) -> str:
        """Name of the service; empty for a client that signs people in to MCP servers."""
        return self.name or self.kind

    @property
    def token_variable(self) -> str:
        """Environment variable that holds the placeholder of a service's tokens."""
        return self.variable or f"{self.service_name.upper().replace('-', '_')}_TOKEN"

    def check_at(self, index: int, where: Where) -> None:
        """Raises `InvalidSetting`."""
        at = f"connections.{index}"
        if not (self.issuer or self.kind):
            refuse(f"{at}.kind", "a kind or an issuer", "neither", where, quoted=False)
        if self.kind and self.kind not in KINDS:
            refuse(f"{at}.kind", f"one of {', '.join(KINDS)}", self.kind, where)
        if self.kind == "generic":
            self._check_generic(at, where)
        if self.name and not _NAME.match(self.name):
            refuse(f"{at}.name", "a letter and at most 23 of a-z, 0-9 and -", self.name, where)
        for name in ("issuer", "authorization_url", "token_url", "revocation_url", "test_url"):
            check_address(f"{at}.{name}", getattr(self, name), where)
        check_each(f"{at}.hosts", self.hosts, parse_pattern, where)
        for name in ("secret_env", "variable"):
            text = getattr(self, name)
            if text and not VARIABLE.match(text):
                refuse(f"{at}.{name}", "the name of an environment variable", "other text", where, quoted=False)

    def _check_generic(self, at: str, where: Where) -> None:
        for name in ("name", "authorization_url", "token_url", "hosts"):
            if not getattr(self, name):
                refuse(f"{at}.{name}", "a value, because the kind is generic", "none", where, quoted=False)


def check_connections(clients: Sequence[ConnectionClient], secrets: Mapping[str, str], where: Where) -> None:
    """Raises `InvalidSetting` for a wrong table, for two services of one name, and for a variable of tokens that is
    another's. `secrets`: the settings of other secrets by their variables."""
    names: set[str] = set()
    variables = dict(secrets)
    for index, client in enumerate(clients):
        client.check_at(index, where)
        name = client.service_name
        if name and name in names:
            refuse(f"connections.{index}.name", "another name than that of an earlier service", name, where)
        names.add(name)
        if client.kind:
            _check_variable(f"connections.{index}", client, variables, where)


def _check_variable(at: str, client: ConnectionClient, variables: dict[str, str], where: Where) -> None:
    """Otherwise the tokens of people would go to the hosts of another secret."""
    variable = client.token_variable
    try:
        checked_name(variable)
    except MalformedInput as error:
        reason = error.message[0].lower() + error.message[1:].rstrip(".")
        refuse(f"{at}.variable", f"a variable that sandboxes can have ({reason})", variable, where)
    if variable in variables:
        whose = variables[variable]
        expected = f"a variable of its own for the service {client.service_name}, as {whose} is {variable} already"
        refuse(f"{at}.variable", expected, variable, where)
    variables[variable] = f"{at}.variable"

"""The services of the configuration on which people connect accounts."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

from outlast.base.records import dataclass
from outlast.kernel.connections.kinds import KINDS
from outlast.kernel.connections.kinds.kind import Kind
from outlast.kernel.connections.settings import ConnectionClient

EVERY_AGENT: Final = "*"


@dataclass(frozen=True, slots=True)
class Service:
    """A service, with the addresses of its kind or of the configuration. `variable` holds its placeholder in sandboxes;
    `key`: what its row is found by, which another address changes, so that no token goes to a server that did not give
    it."""

    name: str
    title: str
    kind: Kind
    kind_name: str
    client: ConnectionClient
    authorization: str
    token: str
    revocation: str
    test: str
    hosts: Sequence[str]
    scopes: Sequence[str]
    variable: str

    @property
    def key(self) -> str:
        """As a code key of `mcp_servers`."""
        parts = ("connection", self.name, self.kind_name, self.token, self.client.client_id)
        return sha256("\0".join(parts).encode()).hexdigest()

    @property
    def host(self) -> str:
        """The host at which people sign in."""
        return urlsplit(self.authorization).hostname or ""

    @property
    def issuer(self) -> str:
        """What its answers may name as `iss`; empty if that is not known."""
        own = self.kind.issuer if self.authorization == self.kind.authorization else ""
        return self.client.issuer or own

    def is_for(self, agent: str, named: Sequence[str]) -> bool:
        """True if an agent may use it, whose code names these connections."""
        return self.name in named or agent in self.client.agents or EVERY_AGENT in self.client.agents


def services_in(clients: Sequence[ConnectionClient]) -> Mapping[str, Service]:
    """The services by name."""
    return {one.name: one for one in (_service(client) for client in clients if client.kind)}


def _service(client: ConnectionClient) -> Service:
    kind, name = KINDS[client.kind], client.service_name
    return Service(
        name=name,
        title=client.title or kind.title or name.capitalize(),
        kind=kind,
        kind_name=client.kind,
        client=client,
        authorization=client.authorization_url or kind.authorization,
        token=client.token_url or kind.token,
        revocation=client.revocation_url or kind.revocation,
        test=client.test_url or kind.test,
        hosts=client.hosts or kind.hosts,
        scopes=client.scopes or kind.scopes,
        variable=client.token_variable,
    )

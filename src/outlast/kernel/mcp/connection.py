"""Talks to an MCP server: within a deadline, to permitted addresses only, with the secret that its header carries.

The library `mcp` is loaded at the first use (`sdk.py`): a server that has no MCP servers never loads it.
"""

import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from outlast.base.errors import OutlastError
from outlast.base.mcp_errors import McpSecretUnusable, McpServerFailed
from outlast.db.database import Database, Tx
from outlast.kernel.connections.account_tokens import Account, AccountTokens, TokenRejected
from outlast.kernel.http.web_addresses import allowed_addresses
from outlast.kernel.mcp.configured_secrets import ConfiguredSecrets
from outlast.kernel.mcp.definitions import Definition
from outlast.kernel.mcp.live_calls import Answer, Ask, refuse
from outlast.kernel.mcp.outcomes import Request
from outlast.kernel.mcp.rules import DEFAULT_HEADER, checked_url, header_value
from outlast.kernel.mcp.settings import McpSettings
from outlast.kernel.mcp.targets import Failure, Place, Session, Target
from outlast.kernel.sandboxes.egress.store import Use, add_uses
from outlast.kernel.secrets import store as secrets
from outlast.kernel.secrets.vault import Vault
from outlast_sandbox.host_patterns import parse_pattern

if TYPE_CHECKING:
    from mcp import ClientSession

T = TypeVar("T")
REASON_CHARS: Final = 300
MAX_PATH_CHARS: Final = 500
UNAUTHORIZED: Final = 401
HTTPS_HINT: Final = "Other networks could read it on the way."


def without_deadline(scope: anyio.CancelScope, timeout_s: float, ask: Ask) -> Ask:
    """`ask`, with the time that a person takes not counted: the scope's deadline begins again after the last answer."""
    asking = 0

    async def patient(request: Request) -> Answer:
        nonlocal asking
        asking += 1
        scope.deadline = math.inf
        try:
            return await ask(request)
        finally:
            asking -= 1
            if not asking:
                scope.deadline = anyio.current_time() + timeout_s

    return patient


def _log_use(tx: Tx, place: Place, project_id: str, user_id: str, status: int | None, is_own: bool) -> None:
    parts = urlsplit(place.url)
    use = Use(
        project_id=project_id,
        sandbox_id="",
        user_id=user_id,
        secret=place.secret or "",
        host=parts.netloc.rpartition("@")[2],
        method="POST",
        path=parts.path[:MAX_PATH_CHARS],
        status=status,
        at=tx.now,
        mcp_server=place.name,
        is_own=is_own,
    )
    add_uses(tx, [use])


class McpConnections:
    """Connects to MCP servers. One per server; keeps nothing between two uses."""

    def __init__(
        self,
        db: Database,
        vault: Vault,
        settings: McpSettings,
        tokens: AccountTokens,
        configured: ConfiguredSecrets | None = None,
    ) -> None:
        """`configured`: secrets of the configuration, for servers that the code of agents names."""
        self.settings, self.tokens = settings, tokens
        self._configured = configured
        self._db, self._vault = db, vault
        self._allowed = allowed_addresses(settings.allow_private)

    async def use(
        self,
        place: Place,
        project_id: str,
        user_id: str,
        work: Callable[["ClientSession"], Awaitable[T]],
        ask: Ask = refuse,
        session: Session | None = None,
    ) -> T:
        """The result of `work` with a connection to the server, as this user of the project, whose log gets the use and
        whose secrets the server may get unless it is a person's own. `ask` asks a person
        meanwhile, which does not count as the server's time; `session` is continued, or gets what the server says of
        it. Raises `McpServerFailed`, `McpSecretUnusable`, and `ConnectionNeeded` as `AccountTokens.use`. A cancelled
        call closes the connection."""
        session = session or Session()
        if place.login is None:
            target = await self._db.read(self._target, place, project_id, user_id)
            return await self._logged(place, target, project_id, user_id, work, ask, session)

        async def with_token(access: str) -> T:
            target = Target(place.name, place.url, (DEFAULT_HEADER, f"Bearer {access}"), place.is_own)
            return await self._logged(place, target, project_id, user_id, work, ask, session)

        return await self.tokens.use(Account(user_id, place.login, place.name), with_token)

    async def _logged(
        self,
        place: Place,
        target: Target,
        project_id: str,
        user_id: str,
        work: Callable[["ClientSession"], Awaitable[T]],
        ask: Ask,
        session: Session,
    ) -> T:
        """As `_use`. A connection that carried a secret is a line in the log of uses; the looks at a task are not."""
        failure, is_look = Failure(), bool(session.version)
        try:
            return await self._use(place, target, work, ask, session, failure)
        finally:
            if target.header is not None and not is_look and (failure.status or failure.reason):
                with anyio.CancelScope(shield=True), suppress(OutlastError):  # the call counts more than its line
                    await self._db.write(_log_use, place, project_id, user_id, failure.status or None, target.is_own)

    async def _use(
        self,
        place: Place,
        target: Target,
        work: Callable[["ClientSession"], Awaitable[T]],
        ask: Ask,
        session: Session,
        failure: Failure,
    ) -> T:
        sdk = await anyio.to_thread.run_sync(import_module, "outlast.kernel.mcp.sdk")
        try:
            with anyio.fail_after(self.settings.timeout_s) as scope:
                patient = without_deadline(scope, self.settings.timeout_s, ask)
                async with sdk.connect(target, self._allowed, failure, patient, session) as client:
                    return await work(client)
        except TimeoutError:
            raise self._failed(place, f"did not answer within {self.settings.timeout_s:g} s") from None
        except Exception as error:  # the edge of another program: the library raises errors of many kinds, in groups
            own = sdk.own_error(error)
            if own is not None:
                raise own from None
            if failure.status == UNAUTHORIZED and place.login is not None:
                raise TokenRejected from None
            raise self._failed(place, failure.reason or sdk.reason_of(error)) from None

    async def list_tools(self, client: "ClientSession") -> Sequence[Definition]:
        """The tools that a server lists: work for `use`."""
        from outlast.kernel.mcp import sdk_requests

        return await sdk_requests.list_tools(client)

    def _target(self, tx: Tx, place: Place, project_id: str, user_id: str) -> Target:
        if place.header is None or place.secret is None:
            return Target(place.name, place.url)
        value, is_own = self._configured_value(place, place.secret), False
        if value is None:
            whose = "" if place.is_own else project_id
            value, is_own = self._value(tx, place.url, place.secret, whose, user_id)
        return Target(place.name, place.url, (place.header, header_value(place.header, value)), is_own)

    def _configured_value(self, place: Place, secret: str) -> str | None:
        """The secret's value if the configuration declares it for servers of agents' code."""
        if not place.of_code:
            return None
        address = checked_url(place.url, self._allowed)
        if not place.url.lower().startswith("https:") and address not in self._allowed:
            raise McpSecretUnusable(f"The secret {secret} is only sent over https://.", hint=HTTPS_HINT, secret=secret)
        return None if self._configured is None else self._configured.value(secret, *address)

    def _value(self, tx: Tx, url: str, name: str, project_id: str, user_id: str) -> tuple[str, bool]:
        """The secret's value for this user, if it is for the server's host, and whether it is their own secret."""
        host, port = checked_url(url, self._allowed)
        hosts = next((one.hosts for one in secrets.hosts_of(tx, project_id, user_id) if one.name == name), None)
        found = secrets.sealed_of(tx, project_id, user_id, name)
        if hosts is None or found is None:
            raise McpSecretUnusable(f"The project has no saved secret {name}.", secret=name)
        if not any(parse_pattern(pattern).matches(host, port) for pattern in hosts):
            raise McpSecretUnusable(f"The secret {name} is not for the host {host}.", secret=name)
        if found.own is not None:
            return self._vault.open(found.own, secrets.about(found.id, user_id)), found.owner_id is not None
        if found.sealed is None:
            raise McpSecretUnusable(f"The secret {name} has no value.", hint="Enter it first.", secret=name)
        return self._vault.open(found.sealed, secrets.about(found.id)), found.owner_id is not None

    @staticmethod
    def _failed(place: Place, reason: str) -> McpServerFailed:
        text = reason[:REASON_CHARS].rstrip(".")
        return McpServerFailed(f"The MCP server {place.name} {text}.", server=place.name)

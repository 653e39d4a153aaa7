"""`outlast doctor --connections`: tries each service and each MCP server over the network, and what apps use."""

import os
from collections.abc import Sequence
from typing import Literal, NamedTuple

import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.base.data_directory import existing_data_directory
from outlast.base.errors import OutlastError
from outlast.db.database import Database, Tx
from outlast.kernel.apps.trials import Trial, TrialFailed, put_passed, trials_of
from outlast.kernel.cli.units import count
from outlast.kernel.connections import store
from outlast.kernel.connections.account_tokens import Account, AccountTokens
from outlast.kernel.connections.oauth_client import OAuth
from outlast.kernel.connections.services import Service
from outlast.kernel.connections.web_request import WebRequest
from outlast.kernel.http.web_addresses import allowed_addresses
from outlast.kernel.mcp.code_servers import place_of
from outlast.kernel.mcp.configured_secrets import ConfiguredSecrets
from outlast.kernel.mcp.connection import McpConnections
from outlast.kernel.mcp.rows import McpServerRow
from outlast.kernel.mcp.tables import mcp_servers
from outlast.kernel.secrets.vault import open_vault
from outlast.kernel.settings import Settings

NO_ACCOUNT = "it answers and knows this server, but no account is connected yet"
CONNECT = "Connect your account on the page Connections, then run this again."


class Check(NamedTuple):
    """What was found of one service or server."""

    verdict: Literal["ok", "note", "bad"]
    what: str
    found: str
    fixes: tuple[str, ...] = ()


async def check_connections(database: Database, settings: Settings) -> Sequence[Check]:
    """Try each service of the configuration, and each MCP server, with the newest account that people connected there,
    and the services that apps use. That a service passed is kept."""
    vault = await open_vault(database, existing_data_directory(settings.server.data_dir), os.environ)
    oauth = OAuth(allowed_addresses(settings.mcp.allow_private), settings.connections, os.environ.get)
    clock = SystemClock()
    tokens = AccountTokens(database, vault, oauth, clock)
    connections = McpConnections(database, vault, settings.mcp, tokens, ConfiguredSecrets(settings.sandbox))
    if oauth.services:
        await database.write(store.put_services, list(oauth.services.values()))
    found = [await _service(database, tokens, service) for service in oauth.services.values()]
    found += [await _server(database, connections, row) for row in await database.read(_servers)]
    found += [await _trial(database, trial) for trial in trials_of(settings, os.environ, clock)]
    return found or [Check("note", "Connections", "no service is configured, and no project has an MCP server")]


async def _service(database: Database, tokens: AccountTokens, service: Service) -> Check:
    variable = service.client.secret_env
    if variable and not os.environ.get(variable):
        return Check("bad", service.title, f"{variable} is not set", (f"export {variable}=...",))
    try:
        tokens.oauth.web.check(service.authorization)
        page = await tokens.oauth.web.send(WebRequest("GET", service.authorization))
        if page.status >= 500:
            return Check("bad", service.title, f"{service.authorization} answers with HTTP status {page.status}")
        await tokens.oauth.check_client(service)
        row = await database.read(store.service_row, service)
        connected = await database.read(store.connected_to, row.id)
        if connected is None:
            return Check("note", service.title, NO_ACCOUNT, (CONNECT,))
        name = await tokens.test(Account(connected.user_id, row.id, service.title), service)
    except OutlastError as error:
        return Check("bad", service.title, error.message, (error.hint,) if error.hint else ())
    await database.write(store.put_passed, row.id)
    return Check("ok", service.title, f"works, as {name or 'an account without a name'}")


async def _server(database: Database, connections: McpConnections, row: McpServerRow) -> Check:
    what = f"MCP server {row.name}"
    if row.command is not None:
        return Check("note", what, "a package, which runs in sandboxes; not tried here")
    user_id = row.created_by or ""
    try:
        if row.login is not None:
            await connections.tokens.oauth.discover(row.url)
            connected = await database.read(store.connected_to, row.id)
            if connected is None:
                return Check("note", what, "it offers a sign-in, but no account is connected yet", (CONNECT,))
            user_id = connected.user_id
        tools = await connections.use(place_of(row), row.project_id or "", user_id, connections.list_tools)
    except OutlastError as error:
        return Check("bad", what, error.message, (error.hint,) if error.hint else ())
    return Check("ok", what, f"lists {count(len(tools), 'tool')}")


async def _trial(database: Database, trial: Trial) -> Check:
    try:
        found = await trial.run()
    except TrialFailed as error:
        return Check("bad", trial.what, str(error))
    await database.write(put_passed, trial)
    return Check("ok", trial.what, found)


def _servers(tx: Tx) -> list[McpServerRow]:
    return tx.rows(
        McpServerRow, sa.select(mcp_servers).where(mcp_servers.c.kind.is_(None)).order_by(mcp_servers.c.name)
    )

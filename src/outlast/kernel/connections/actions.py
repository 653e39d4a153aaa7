"""A person connects their account on an MCP server or a service, looks at their connections, and ends one."""

import logging
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from outlast.base.clock import iso
from outlast.base.connection_errors import SignInExpired, SignInRefused
from outlast.base.errors import MalformedInput, OutlastError
from outlast.base.lookups import demand_found
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.secrets import hash_of
from outlast.kernel.connections import rules, store
from outlast.kernel.connections.account_tokens import Account
from outlast.kernel.connections.grants import OAuthClient, Party, PendingSignIn, load
from outlast.kernel.connections.oauth_client import DOCUMENT_PATH, callback_path
from outlast.kernel.connections.rows import ConnectionRow, SignInRow
from outlast.kernel.connections.rules import Metadata
from outlast.kernel.connections.services import Service
from outlast.kernel.connections.shapes import AccountAnswer, AccountServiceAnswer, SignInAnswer, SignInCallbackRequest
from outlast.kernel.mcp import actions as mcp
from outlast.kernel.mcp.code_servers import usable_in
from outlast.kernel.mcp.rows import McpServerRow
from outlast.kernel.mcp.store import own_server_of, shared_server_of
from outlast.kernel.mcp.tables import mcp_servers
from outlast.kernel.projects.permissions import require, require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.runs.account_questions import tell_connected
from outlast.kernel.runs.approval_actions import answer_connected
from outlast.kernel.services import Services, in_read_with_services

log: Final = logging.getLogger("outlast.connections")


@in_read_with_services
def list_accounts(tx: Tx, services: Services, actor: Actor, project_id: str) -> list[AccountAnswer]:
    """The servers that sign people in, of the project and of the code of its agents, and the services of the
    configuration, each with the actor's own connection (members)."""
    require(tx, actor, project_id, Right.READ)
    known = {one.key: one for one in services.accounts.oauth.services.values()}
    others = [*usable_in(tx, services.engine.agents, project_id), *store.service_rows(tx, list(known))]
    rows = store.accounts_of(tx, actor.user_id, project_id, [row.id for row in others])
    return [_answer(row, known.get(row.code_key or "")) for row in rows]


async def begin_sign_in(services: Services, actor: Actor, server_id: str, own_address: str) -> SignInAnswer:
    """Where the actor's browser goes to connect their account (editors). `own_address`: of this server, as the browser
    reaches it. Repeatable; each has its own state, which is good for ten minutes and once. Raises `SignInRefused`,
    `SignInFailed`."""
    server = await services.db.read(_require_server, services, actor, server_id)
    service = _service_of(services, server)
    redirect_uri = own_address.rstrip("/") + callback_path("" if service is None else service.name)
    state = rules.new_verifier()
    if service is not None:
        endpoint, pending, more = service.authorization, *_asked_of_service(services, service, redirect_uri)
    else:
        endpoint, pending, more = await _asked_of_server(services, server, redirect_uri)
    parameters = {
        "response_type": "code",
        "client_id": pending.party.client_id,
        "redirect_uri": redirect_uri,
        "state": state,
        **more,
    }
    if pending.verifier:
        parameters |= {"code_challenge": rules.challenge_of(pending.verifier), "code_challenge_method": rules.PKCE}

    def keep(tx: Tx) -> SignInRow:
        _require_server(tx, services, actor, server_id)
        ends = tx.now + store.SIGN_IN_LIFE
        row = SignInRow(hash_of(state), actor.user_id, server_id, actor.session_hash, "", ends)
        store.begin(tx, services.vault, row, pending)
        return row

    row = await services.db.write(keep)
    url = rules.authorization_url(endpoint, parameters)
    return SignInAnswer(url=url, host=urlsplit(url).hostname or "", expires_at=iso(row.expires_at))


async def finish_sign_in(services: Services, actor: Actor, came: SignInCallbackRequest) -> AccountAnswer:
    """Exchange the code that the actor's browser brought, and let the runs go on that wait for the account. Raises
    `SignInExpired` for a state that is unknown, used, too old, or not the actor's; `SignInRefused`, `SignInFailed`."""
    row = await services.db.write(_take, actor, came.state)
    pending = load(PendingSignIn, services.vault.open(row.sealed, store.about_sign_in(row.state_hash)))
    issuer = pending.party.issuer
    rules.check_redirect(pending.redirect_uri, callback_path(came.service or ""), issuer)
    service = services.accounts.oauth.services.get(pending.party.service)
    if service is None or service.issuer:  # of others, it is not known what they call themselves
        rules.check_issuer(issuer, came.iss, required=pending.states_issuer)
    if came.error is not None or came.code is None:
        raise rules.refusal(came.error or "", issuer)
    try:
        issued = await services.accounts.oauth.exchange(pending, came.code, services.clock.now())
    except SignInRefused:
        # It may have forgotten this server: the next sign-in registers it again.
        await services.db.write(store.forget_registration, issuer, pending.redirect_uri)
        raise

    def keep(tx: Tx) -> McpServerRow:
        server = _require_server(tx, services, actor, row.server_id)
        store.connect(tx, services.vault, actor.user_id, row.server_id, issued)
        tell_connected(tx, actor.user_id, row.server_id)
        return server

    server = await services.db.write(keep)
    if service is None:
        await _list_first(services, actor, server)
    else:
        await _name_first(services, actor, server.id)
    return await services.db.read(_account, actor, server.id, service)


async def test_connection(services: Services, actor: Actor, server_id: str) -> AccountAnswer:
    """Make one cheap request with the actor's account on a service, and keep what the service calls the account
    (editors). Raises `ConnectionNeeded` if there is none, or it was ended there; `SignInFailed`; `MalformedInput` for
    an MCP server, whose test is to list its tools."""
    server = await services.db.read(_require_server, services, actor, server_id)
    service = _service_of(services, server)
    if service is None:
        raise MalformedInput("This is an MCP server: list its tools to test it.", field="mcp_server_id")
    name = await services.accounts.test(Account(actor.user_id, server.id, server.name), service)
    await services.db.write(store.put_account, actor.user_id, server.id, name)
    return await services.db.read(_account, actor, server.id, service)


async def disconnect(services: Services, actor: Actor, server_id: str) -> None:
    """Delete the actor's connection to a server, and end it there if the server offers that. Repeating is harmless."""
    row = await services.db.write(_forget, services, actor, server_id)
    if row is None:
        return
    try:
        await services.accounts.oauth.revoke(services.accounts.grant_of(row))
    except OutlastError as error:  # it is best effort: the tokens are deleted here
        log.info("a connection was not ended at its server", extra={"code": error.code, "reason": error.message})


async def go_on(services: Services, question_id: str) -> None:
    """Handler of the timer: answer a question for an account that was connected. Repeatable. Raises `NotFound`."""
    await answer_connected(services, question_id, store.is_connected)


async def follow_settings(services: Services) -> None:
    """Keep the services of the configuration, so that people can connect accounts on them. Repeatable."""
    known = services.accounts.oauth.services
    if known:
        await services.db.write(store.put_services, list(known.values()))
    for agent in services.engine.agents.values():
        if missing := [name for name in agent.connections if name not in known]:
            log.warning(
                "an agent names connections that the configuration does not have",
                extra={"agent": agent.name, "missing": missing},
            )


def _forget(tx: Tx, services: Services, actor: Actor, server_id: str) -> ConnectionRow | None:
    _require_server(tx, services, actor, server_id, Right.READ)
    return store.remove(tx, actor.user_id, server_id)


def _take(tx: Tx, actor: Actor, state: str) -> SignInRow:
    """The sign-in of this state, which is used up."""
    row = store.take(tx, hash_of(state))
    is_mine = row is not None and row.user_id == actor.user_id and row.session_hash in (None, actor.session_hash)
    if row is None or not is_mine or row.expires_at <= tx.now:  # nothing is written: another user's stays
        raise SignInExpired("This sign-in is not known: it was used, is too old, or was begun by another user.")
    return row


def _asked_of_service(services: Services, service: Service, redirect_uri: str) -> tuple[PendingSignIn, dict[str, str]]:
    """What a sign-in on a service keeps, and what it asks for."""
    verifier = rules.new_verifier() if service.kind.has_pkce else ""
    pending = PendingSignIn(services.accounts.oauth.party_of(service), redirect_uri, False, verifier)
    return pending, service.kind.authorization_parameters(service.scopes)


async def _asked_of_server(
    services: Services, server: McpServerRow, redirect_uri: str
) -> tuple[str, PendingSignIn, dict[str, str]]:
    """Where people sign in for an MCP server, what the sign-in keeps, and what it asks for."""
    resource, metadata = await services.accounts.oauth.discover(server.url)
    client = await _client(services, metadata, redirect_uri)
    party = Party(
        issuer=metadata.issuer,
        resource=resource.identifier,
        token_endpoint=metadata.token,
        revocation_endpoint=metadata.revocation,
        client_id=client.client_id,
        method=client.method,
        secret=client.secret,
    )
    asked = {"resource": party.resource}
    if scope := rules.scope_for(resource, metadata):
        asked["scope"] = scope
        if "offline_access" in scope.split():
            asked["prompt"] = "consent"  # without it, OpenID Connect lets servers leave the refresh token out
    pending = PendingSignIn(party, redirect_uri, metadata.states_issuer, rules.new_verifier())
    return metadata.authorization, pending, asked


async def _client(services: Services, metadata: Metadata, redirect_uri: str) -> OAuthClient:
    """This server as a client of the authorization server: configured, a document of ours, or registered."""
    oauth, public_url = services.accounts.oauth, services.settings.server.public_url.rstrip("/")
    if (client := oauth.configured(metadata)) is not None:
        return client
    if metadata.takes_documents and public_url.startswith("https://"):
        return OAuthClient(public_url + DOCUMENT_PATH)
    known = await services.db.read(store.registered, services.vault, metadata.issuer, redirect_uri)
    if known is not None:
        return known
    client, ends = await oauth.register(metadata, redirect_uri)

    def keep(tx: Tx) -> None:
        expires_at = None if ends is None else datetime.fromtimestamp(ends, UTC)
        store.register(tx, services.vault, metadata.issuer, redirect_uri, client, expires_at)

    await services.db.write(keep)
    return client


async def _list_first(services: Services, actor: Actor, server: McpServerRow) -> None:
    """After an owner's first sign-in, list the tools, which could not be listed before."""
    try:
        if not (await mcp.list_tools(services, actor, server.id)).tools:
            await mcp.refresh_tools(services, actor, server.id)
    except OutlastError as error:  # they can be listed again; the account is connected
        log.info("tools not listed after a sign-in", extra={"code": error.code, "reason": error.message})


async def _name_first(services: Services, actor: Actor, server_id: str) -> None:
    """Ask a service for the name of the account that was connected. It stays unknown if the service does not answer."""
    try:
        await test_connection(services, actor, server_id)
    except OutlastError as error:
        log.info("an account was not named after a sign-in", extra={"code": error.code, "reason": error.message})


def _service_of(services: Services, server: McpServerRow) -> Service | None:
    """The service of a row; None for an MCP server. Raises `NotFound` if the configuration has it no more."""
    if server.kind is None:
        return None
    known = services.accounts.oauth.services.values()
    found = next((one for one in known if one.key == server.code_key), None)
    return demand_found(found, f"The configuration has no service {server.name} any more.", id=server.id)


def _require_server(
    tx: Tx, services: Services, actor: Actor, server_id: str, right: Right = Right.EDIT
) -> McpServerRow:
    """A server that signs people in: everybody has an account on one of every project or of agents' code, or on a
    service."""
    server = shared_server_of(tx, server_id) or own_server_of(tx, actor.user_id, server_id)
    server = server or require_owned(tx, actor, McpServerRow, mcp_servers, "MCP server", server_id, right)
    if server.login is None:
        raise MalformedInput("People do not sign in to this server.", field="mcp_server_id")
    _service_of(services, server)
    return server


def _account(tx: Tx, actor: Actor, server_id: str, service: Service | None) -> AccountAnswer:
    (row,) = store.accounts_of(tx, actor.user_id, None, [server_id])
    return _answer(row, service)


def _answer(row: store.AccountOn, service: Service | None) -> AccountAnswer:
    host = urlsplit(row.url).hostname or ""
    return shape_of(AccountAnswer, row, host=host, state=row.state or "missing", service=_service_answer(row, service))


def _service_answer(row: store.AccountOn, service: Service | None) -> AccountServiceAnswer | None:
    if service is None:
        return None
    passed_at = None if row.passed_at is None else iso(row.passed_at)
    return AccountServiceAnswer(
        name=service.name,
        kind=service.kind_name,
        variable=service.variable,
        hosts=list(service.hosts),
        passed_at=passed_at,
    )

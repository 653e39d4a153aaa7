"""Connections, sign-ins and registrations in the database. First argument: the open transaction."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final, NamedTuple

import orjson
import sqlalchemy as sa

from outlast.base.ids import new_id
from outlast.base.lookups import demand_found
from outlast.db.database import Tx
from outlast.kernel.connections.grants import Issued, OAuthClient, PendingSignIn, dump, load
from outlast.kernel.connections.rows import ClientRegistrationRow, ConnectionRow, SignInRow
from outlast.kernel.connections.services import Service
from outlast.kernel.connections.tables import client_registrations, connections, sign_ins
from outlast.kernel.mcp.rows import McpServerRow
from outlast.kernel.mcp.store import USABLE
from outlast.kernel.mcp.tables import mcp_servers
from outlast.kernel.secrets.vault import Vault

SIGN_IN_LIFE: Final = timedelta(minutes=10)
MOST_SIGN_INS: Final = 10  # of one person that wait; the oldest go
USED_PRECISION: Final = timedelta(minutes=1)
_OPEN: Final = sa.or_(connections.c.claim.is_(None), connections.c.claimed_until <= sa.bindparam("now"))


class AccountOn(NamedTuple):
    """A server on which the user has an account, or needs one."""

    server_id: str
    server: str
    url: str
    project_id: str | None
    state: str | None
    issuer: str | None
    connected_at: datetime | None
    last_used_at: datetime | None
    account: str | None
    kind: str | None
    code_key: str | None
    passed_at: datetime | None


def put_services(tx: Tx, services: Iterable[Service]) -> None:
    """Keep a row for each service. Repeatable. Rows of others that the configuration names no more stay, with the
    accounts on them: it may name them again."""
    wanted = {one.key: one for one in services}
    for row in service_rows(tx, list(wanted)):
        service = wanted.pop(row.code_key or "")
        changed = {"name": service.title, "url": f"https://{service.host}"}
        if any(getattr(row, name) != value for name, value in changed.items()):
            tx.update(mcp_servers, {"id": row.id}, **changed)
    for key, service in wanted.items():
        named = {"name": service.title, "url": f"https://{service.host}", "kind": service.kind_name, "login": "user"}
        tx.insert_missing(mcp_servers, id=new_id("mcp_server"), code_key=key, created_at=tx.now, tries=0, **named)


def service_rows(tx: Tx, keys: Sequence[str]) -> list[McpServerRow]:
    """The rows of services with these keys, by name."""
    query = sa.select(mcp_servers).where(mcp_servers.c.code_key.in_(keys), mcp_servers.c.kind.is_not(None))
    return tx.rows(McpServerRow, query.order_by(mcp_servers.c.name)) if keys else []


def service_row(tx: Tx, service: Service) -> McpServerRow:
    """The row of a service. Raises `NotFound` before the server's start has kept it."""
    rows = service_rows(tx, [service.key])
    return demand_found(rows[0] if rows else None, "There is no such service yet.", name=service.name)


def put_account(tx: Tx, user_id: str, server_id: str, name: str) -> None:
    """Keep what the other server calls the account."""
    tx.update(connections, {"user_id": user_id, "server_id": server_id}, account=name or None)


def put_passed(tx: Tx, server_id: str) -> None:
    """A service was tried, and all of it worked."""
    tx.update(mcp_servers, {"id": server_id}, passed_at=tx.now)


def connected_to(tx: Tx, server_id: str) -> ConnectionRow | None:
    """The newest connection to a server that is not lost, of any user."""
    mine = connections.c.server_id == server_id, connections.c.state == "connected"
    query = sa.select(connections).where(*mine).order_by(connections.c.connected_at.desc()).limit(1)
    return tx.row(ConnectionRow, query)


def find(tx: Tx, user_id: str, server_id: str) -> ConnectionRow | None:
    """The user's connection to a server, or None."""
    return tx.find(ConnectionRow, connections, {"user_id": user_id, "server_id": server_id})


def is_connected(tx: Tx, user_id: str, server_id: str) -> bool:
    """True if the user does not have to connect."""
    row = find(tx, user_id, server_id)
    return row is not None and row.state == "connected"


def accounts_of(tx: Tx, user_id: str, project_id: str | None, server_ids: Sequence[str]) -> list[AccountOn]:
    """The servers of the project and of every project, the user's own, and those with these ids, that sign people in,
    by name, each with the user's connection."""
    mine = sa.and_(connections.c.server_id == mcp_servers.c.id, connections.c.user_id == user_id)
    wanted: sa.ColumnElement[bool] = mcp_servers.c.id.in_(server_ids)
    if project_id is not None:
        wanted = sa.or_(wanted, USABLE)
    query = (
        sa.select(
            mcp_servers.c.id.label("server_id"),
            mcp_servers.c.name.label("server"),
            mcp_servers.c.url,
            mcp_servers.c.project_id,
            connections.c.state,
            connections.c.issuer,
            connections.c.connected_at,
            connections.c.last_used_at,
            connections.c.account,
            mcp_servers.c.kind,
            mcp_servers.c.code_key,
            mcp_servers.c.passed_at,
        )
        .select_from(mcp_servers.outerjoin(connections, mine))
        .where(wanted, mcp_servers.c.login.is_not(None))
        .order_by(mcp_servers.c.name)
    )
    return tx.rows(AccountOn, query, {"project": project_id, "user": user_id} if project_id is not None else None)


def connect(tx: Tx, vault: Vault, user_id: str, server_id: str, issued: Issued) -> None:
    """Keep new tokens in place of any earlier ones. A renewal of those that is under way is not kept."""
    values = {
        "issuer": issued.grant.party.issuer,
        "state": "connected",
        "sealed": vault.seal(tx, dump(issued.grant), about(user_id, server_id)),
        "expires_at": issued.expires_at,
        "claim": None,
        "claimed_until": None,
        "connected_at": tx.now,
        "account": None,
    }
    key = {"user_id": user_id, "server_id": server_id}
    if not tx.insert_missing(connections, **key, **values, version=1, last_used_at=None):
        mine = connections.c.user_id == user_id, connections.c.server_id == server_id
        tx.execute(sa.update(connections).where(*mine).values(**values, version=connections.c.version + 1))


def claim(tx: Tx, row: ConnectionRow, claim_id: str, life: timedelta) -> bool:
    """Let one process renew the tokens of this version. False if another does, or did."""
    still = connections.c.version == row.version, connections.c.state == "connected", _OPEN
    taken = sa.update(connections).where(*_key(row), *still).values(claim=claim_id, claimed_until=tx.now + life)
    return tx.execute(taken, {"now": tx.now}).rowcount == 1


def renew(tx: Tx, vault: Vault, row: ConnectionRow, claim_id: str, issued: Issued) -> bool:
    """Keep renewed tokens. False if the claim was lost meanwhile."""
    sealed = vault.seal(tx, dump(issued.grant), about(row.user_id, row.server_id))
    values = {"sealed": sealed, "expires_at": issued.expires_at, "version": row.version + 1}
    return _settle(tx, row, claim_id, **values)


def release(tx: Tx, row: ConnectionRow, claim_id: str) -> bool:
    """Give a claim up: the tokens could not be renewed now."""
    return _settle(tx, row, claim_id)


def lose(tx: Tx, row: ConnectionRow, claim_id: str | None = None) -> bool:
    """The person has to connect again, unless the tokens changed meanwhile."""
    if claim_id is not None:
        return _settle(tx, row, claim_id, state="lost")
    same = {"user_id": row.user_id, "server_id": row.server_id, "version": row.version}
    return tx.update(connections, same, state="lost") > 0


def touch(tx: Tx, user_id: str, server_id: str) -> None:
    """Note a use; writes at most once a minute."""
    mine = connections.c.user_id == user_id, connections.c.server_id == server_id
    old = sa.or_(connections.c.last_used_at.is_(None), connections.c.last_used_at <= tx.now - USED_PRECISION)
    tx.execute(sa.update(connections).where(*mine, old).values(last_used_at=tx.now))


def remove(tx: Tx, user_id: str, server_id: str) -> ConnectionRow | None:
    """Delete a connection. Returns what it was, or None."""
    row = find(tx, user_id, server_id)
    if row is not None:
        tx.execute(sa.delete(connections).where(*_key(row)))
    return row


# --- sign-ins ---------------------------------------------------------------------------------------------------------


def begin(tx: Tx, vault: Vault, row: SignInRow, pending: PendingSignIn) -> None:
    """Keep a sign-in until its code comes. Also deletes those that are over, and the user's oldest ones."""
    tx.execute(sa.delete(sign_ins).where(sign_ins.c.expires_at <= tx.now))
    mine = sa.select(sign_ins.c.state_hash).where(sign_ins.c.user_id == row.user_id)
    newest = list(tx.execute(mine.order_by(sign_ins.c.expires_at.desc()).limit(MOST_SIGN_INS - 1)).scalars())
    tx.execute(sa.delete(sign_ins).where(sign_ins.c.user_id == row.user_id, sign_ins.c.state_hash.not_in(newest)))
    sealed = vault.seal(tx, dump(pending), about_sign_in(row.state_hash))
    tx.insert(sign_ins, **row._replace(sealed=sealed)._asdict())


def take(tx: Tx, state_hash: str) -> SignInRow | None:
    """The sign-in of this state, once: it is deleted. None if there is none, or another transaction took it."""
    row = tx.find(SignInRow, sign_ins, {"state_hash": state_hash})
    deleted = tx.execute(sa.delete(sign_ins).where(sign_ins.c.state_hash == state_hash)).rowcount
    return row if deleted else None


# --- registrations ----------------------------------------------------------------------------------------------------


def registered(tx: Tx, vault: Vault, issuer: str, redirect_uri: str) -> OAuthClient | None:
    """This server as the issuer registered it, or None."""
    row = tx.find(ClientRegistrationRow, client_registrations, {"party_hash": _party_hash(issuer, redirect_uri)})
    if row is None or (row.expires_at is not None and row.expires_at <= tx.now):
        return None
    return load(OAuthClient, vault.open(row.sealed, _about_client(row.party_hash)))


def register(
    tx: Tx, vault: Vault, issuer: str, redirect_uri: str, client: OAuthClient, expires_at: datetime | None
) -> None:
    """Keep a registration in place of an earlier one."""
    party = _party_hash(issuer, redirect_uri)
    values = {"sealed": vault.seal(tx, dump(client), _about_client(party)), "expires_at": expires_at}
    if not tx.insert_missing(client_registrations, party_hash=party, **values):
        tx.update(client_registrations, {"party_hash": party}, **values)


def forget_registration(tx: Tx, issuer: str, redirect_uri: str) -> None:
    """The issuer knows the client no longer."""
    party = _party_hash(issuer, redirect_uri)
    tx.execute(sa.delete(client_registrations).where(client_registrations.c.party_hash == party))


def about(user_id: str, server_id: str) -> str:
    """What tokens are sealed for (see `Vault`)."""
    return f"connections.sealed {user_id} {server_id}"


def about_sign_in(state_hash: str) -> str:
    """What a sign-in is sealed for."""
    return f"sign_ins.sealed {state_hash}"


def _about_client(party_hash: str) -> str:
    return f"client_registrations.sealed {party_hash}"


def _party_hash(issuer: str, redirect_uri: str) -> str:
    return sha256(orjson.dumps([issuer, redirect_uri])).hexdigest()


def _key(row: ConnectionRow) -> Sequence[sa.ColumnElement[bool]]:
    return connections.c.user_id == row.user_id, connections.c.server_id == row.server_id


def _settle(tx: Tx, row: ConnectionRow, claim_id: str, **values: object) -> bool:
    """End a claim, if it is still this one."""
    held = {"user_id": row.user_id, "server_id": row.server_id, "claim": claim_id}
    return tx.update(connections, held, claim=None, claimed_until=None, **values) > 0

"""Codes and tokens are good for what they were given for, and nothing else: against the server made with Authlib."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from outlast.base.connection_errors import ConnectionNeeded, SignInRefused
from outlast.db.database import Database
from outlast.kernel.connections.grants import Issued, PendingSignIn
from outlast.kernel.mcp import actions as mcp
from tests.flow.connections.guarded_server import guarded_server
from tests.flow.connections.test_sign_in import World, allow, on_sqlite, world


def tampered(it: World, **changes: Any) -> list[tuple[PendingSignIn, str]]:
    """The exchanges from now on, each with these fields in place of what the sign-in keeps."""
    oauth, made = it.it.services.accounts.oauth, []
    real = oauth.exchange

    async def exchange(pending: PendingSignIn, code: str, now: Any) -> Issued:
        more = dict(changes)
        resource = more.pop("resource", pending.party.resource)
        pending = replace(pending, party=replace(pending.party, resource=resource), **more)
        made.append((pending, code))
        return await real(pending, code, now)

    oauth.exchange = exchange  # type: ignore[method-assign]
    return made


@on_sqlite
@pytest.mark.parametrize(
    "change",
    [
        {"verifier": "x" * 64},
        {"resource": "https://other.example.com/mcp"},
        {"redirect_uri": "https://other.example.com/connections/callback"},
    ],
)
async def test_a_code_is_worth_nothing_with_another_verifier_resource_or_address(
    db: Database, tmp_path: Path, change: dict[str, str]
) -> None:
    async with world(db, tmp_path) as it:
        made = tampered(it, **change)
        with pytest.raises(SignInRefused, match="invalid_grant"):
            await it.connect()
        assert (len(made), it.auth.tokens) == (1, [])
        assert [one.state for one in await it.accounts()] == ["missing"]


@on_sqlite
async def test_a_code_is_exchanged_once(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path) as it:
        made = tampered(it)
        assert (await it.finish(await allow(await it.begin()))).state == "connected"
        (pending, code) = made[0]
        with pytest.raises(SignInRefused, match="invalid_grant"):
            await it.it.services.accounts.oauth.exchange(pending, code, it.it.services.clock.now())
        assert [sent["code"] for sent in it.auth.forms] == [code, code]


async def status_with(token: str, url: str) -> int:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient() as client:
        return (await client.post(url, json=ping, headers=headers)).status_code


@on_sqlite
async def test_a_token_for_one_server_opens_no_other_and_is_lost_where_it_is_refused(
    db: Database, tmp_path: Path
) -> None:
    async with world(db, tmp_path) as it, guarded_server(it.auth) as other:
        await it.connect()
        (token,) = it.auth.tokens
        assert token.resource == it.server.url
        assert await status_with(token.access_token, it.server.url) != 401
        assert await status_with(token.access_token, other.url) == 401
        for one in it.auth.tokens:  # the sign-in server gives them for the other one: also those that it renews
            one.resource = other.url
        with pytest.raises(ConnectionNeeded):
            await mcp.refresh_tools(it.it.services, it.it.owner, it.server_id)
        assert it.auth.renewals == 1
        assert [one.state for one in await it.accounts()] != ["connected"]

"""This server as an OAuth client that is the address of its document: an authorization server reads and checks it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from outlast.db.database import Database
from outlast.kernel.connections import actions
from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.mcp import actions as mcp
from outlast.kernel.services import Services
from outlast.kernel.settings.server import ServerSettings
from outlast.surfaces.http.application import create_http
from outlast.surfaces.protocols.e2b.runtime import E2bRuntime
from tests.flow.connections.auth_server import DOCUMENTS
from tests.flow.connections.test_sign_in import World, allow, on_sqlite, world
from tests.flow.http.conftest import surface_over
from tests.flow.mcp.tool_server import serving

HOST = "outlast.example.com"
PUBLIC = f"https://{HOST}"
DOCUMENT = f"{PUBLIC}/.well-known/outlast-mcp-client.json"


def known_as(services: Services, public_url: str) -> Services:
    return replace(services, settings=replace(services.settings, server=ServerSettings(public_url=public_url)))


@asynccontextmanager
async def published(it: World, public_url: str = PUBLIC) -> AsyncIterator[str]:
    """Where the application of a server answers that believes to be at `public_url`; the authorization server comes
    there for `HOST`."""
    surface = surface_over(known_as(it.it.services, public_url), None)
    app = create_http(surface, known_hosts("127.0.0.1", public_url, [HOST]), E2bRuntime(it.it.services))
    async with serving(app) as port:
        it.auth.hosts = {HOST: f"http://127.0.0.1:{port}"}
        yield it.auth.hosts[HOST]


async def begin(it: World, own: str = PUBLIC) -> str:
    begun = await actions.begin_sign_in(known_as(it.it.services, PUBLIC), it.it.owner, it.server_id, own)
    return begun.url


@on_sqlite
async def test_the_document_names_its_own_address_and_where_browsers_come_back(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path) as it, published(it) as at, httpx.AsyncClient(timeout=60) as reader:
        answer = await reader.get(f"{at}/.well-known/outlast-mcp-client.json", headers={"Host": HOST})
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("application/json")
        assert answer.json() == {
            "client_id": DOCUMENT,
            "client_name": "Outlast",
            "redirect_uris": [f"{PUBLIC}/connections/callback"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }


@on_sqlite
async def test_a_person_signs_in_through_the_document_and_no_client_is_registered(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path, answers={DOCUMENTS: True}) as it, published(it):
        account = await it.finish(await allow(await begin(it)))
        assert (account.state, it.auth.clients) == ("connected", {})
        assert [one.client_id for one in it.auth.tokens] == [DOCUMENT]
        it.auth.expire_all()  # the renewal names the same client
        listed = await mcp.refresh_tools(it.it.services, it.it.owner, it.server_id)
        assert "whoami" in [tool.name for tool in listed.tools]
        assert it.auth.renewals == 1
        await actions.disconnect(it.it.services, it.it.owner, it.server_id)
        assert (it.auth.revoked, it.auth.tokens) == (1, [])


@on_sqlite
@pytest.mark.parametrize(
    ("public_url", "own", "error"),
    [("https://other.example.com", PUBLIC, "invalid_client"), (PUBLIC, "https://other.example.com", "invalid_request")],
)
async def test_a_document_of_another_client_or_without_the_address_to_come_back_to_is_refused(
    db: Database, tmp_path: Path, public_url: str, own: str, error: str
) -> None:
    async with world(db, tmp_path, answers={DOCUMENTS: True}) as it, published(it, public_url):
        url = await begin(it, own)
        async with httpx.AsyncClient(timeout=60) as browser:
            answer = await browser.post(url)
        assert (answer.status_code, answer.json()["error"]) == (400, error)
        assert (it.auth.codes, it.auth.tokens) == ({}, [])
        assert [one.state for one in await it.accounts()] == ["missing"]

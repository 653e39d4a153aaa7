"""A person connects their account: the sign-in, what is refused, and what is left after a disconnect."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import sqlalchemy as sa
from mcp.server.auth.provider import AccessToken
from oidc_provider_mock import app as oidc_app

from outlast.base.connection_errors import SignInExpired, SignInRefused
from outlast.base.errors import Forbidden, MalformedInput, NotFound, OutlastError
from outlast.db.database import Database
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.connections import actions
from outlast.kernel.connections.settings import ConnectionClient
from outlast.kernel.connections.shapes import SignInCallbackRequest
from outlast.kernel.connections.tables import client_registrations, connections, sign_ins
from outlast.kernel.mcp import actions as mcp
from outlast.kernel.mcp.settings import McpSettings
from outlast.kernel.mcp.shapes import McpServerRequest, McpToolsAnswer
from outlast.kernel.runs.settings import RetrySettings
from outlast.kernel.settings import Settings
from outlast.kernel.settings.server import ServerSettings
from outlast.testing.scripted_model import Turn
from tests.factories import join, make_project, make_user
from tests.flow.connections.auth_server import AuthServer, auth_server, threaded
from tests.flow.connections.guarded_server import guarded_server
from tests.flow.harness import Stage, stage
from tests.flow.mcp.tool_server import ToolServer

# What these check is what other servers answer: one database is enough.
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
OWN = "http://127.0.0.1:8400"


@dataclass
class World:
    """A project with a server that people sign in to."""

    it: Stage
    auth: AuthServer
    server: ToolServer
    found: McpToolsAnswer

    @property
    def server_id(self) -> str:
        return self.found.server.id

    async def begin(self, actor: Actor | None = None) -> str:
        begun = await actions.begin_sign_in(self.it.services, actor or self.it.owner, self.server_id, OWN)
        return begun.url

    async def finish(self, came: SignInCallbackRequest, actor: Actor | None = None) -> Any:
        return await actions.finish_sign_in(self.it.services, actor or self.it.owner, came)

    async def connect(self, actor: Actor | None = None, user: str = "ana") -> Any:
        self.auth.user = user
        return await self.finish(await allow(await self.begin(actor)), actor)

    async def accounts(self, actor: Actor | None = None) -> list[Any]:
        return await actions.list_accounts(self.it.services, actor or self.it.owner, self.it.project_id)


async def allow(url: str, **form: str) -> SignInCallbackRequest:
    """What the browser brings back after the person has allowed it."""
    async with httpx.AsyncClient(timeout=60) as browser:
        answer = await browser.post(url, data=form)
    assert answer.status_code == 302, answer.text
    return brought_back(answer.headers["location"])


def brought_back(address: str) -> SignInCallbackRequest:
    """What the page at this address sends on."""
    back = parse_qs(urlsplit(address).query)
    named = {name: texts[0] for name, texts in back.items() if name in ("state", "code", "iss", "error")}
    _, service = urlsplit(address).path.split("/connections/callback")
    return SignInCallbackRequest(**named, service=service.removeprefix("/") or None)


def settings_for(*places: str) -> Settings:
    return Settings(mcp=McpSettings(allow_private=places), retry=RetrySettings(attempts=0))


@asynccontextmanager
async def world(db: Database, folder: Path, turns: Sequence[Turn] = (), **auth: Any) -> AsyncIterator[World]:
    with auth_server(**auth) as signs_in:
        async with guarded_server(signs_in) as server:
            places = (server.place, f"127.0.0.1:{signs_in.port}")
            chosen = settings_for(*places)
            async with stage(db, folder, list(turns), settings=chosen) as it:
                found = await add(it, server)
                yield World(it, signs_in, server, found)


async def add(it: Stage, server: ToolServer) -> McpToolsAnswer:
    wanted = McpServerRequest(name="tracker", url=server.url, login="user")
    return await mcp.add_server(it.services, it.owner, it.project_id, wanted)


async def test_an_account_is_connected_its_tools_are_listed_and_a_disconnect_revokes_it(
    db: Database, tmp_path: Path
) -> None:
    async with world(db, tmp_path) as it:
        assert (it.found.server.login, it.found.tools) == ("user", [])
        assert [one.state for one in await it.accounts()] == ["missing"]
        asked = parse_qs(urlsplit(url := await it.begin()).query)
        assert asked["resource"] == [it.server.url]
        assert asked["code_challenge_method"] == ["S256"]
        assert asked["redirect_uri"] == [f"{OWN}/connections/callback"]
        account = await it.finish(await allow(url))
        assert (account.state, account.issuer, account.server) == ("connected", it.auth.issuer, "tracker")
        assert it.auth.forms[-1]["resource"] == it.server.url
        tools = (await mcp.list_tools(it.it.services, it.it.owner, it.server_id)).tools
        assert "whoami" in [tool.name for tool in tools]

        await actions.disconnect(it.it.services, it.it.owner, it.server_id)
        assert (it.auth.revoked, it.auth.tokens) == (1, [])
        assert [one.state for one in await it.accounts()] == ["missing"]
        await actions.disconnect(it.it.services, it.it.owner, it.server_id)


async def test_tokens_are_sealed_for_their_row_and_shown_nowhere(
    db: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    async with world(db, tmp_path) as it:
        url = await it.begin()
        waiting = await db.read(lambda tx: tx.execute(sa.select(sign_ins)).all())
        account = await it.finish(await allow(url))
        rows = await db.read(lambda tx: tx.execute(sa.select(connections)).all())
        (token,) = it.auth.tokens
        ours = [one for one in caplog.records if one.name.startswith("outlast")]
        shown = f"{rows}{waiting}{account}{[vars(one) for one in ours]}{it.it.services.accounts.grant_of(rows[0])!r}"  # type: ignore[arg-type]
        assert token.access_token not in shown
        assert token.refresh_token not in shown
        verifier = it.auth.forms[-1]["code_verifier"]
        assert verifier not in shown


@on_sqlite
@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
async def test_a_server_that_gives_secrets_is_shown_them_and_registers_this_one_once(
    db: Database, tmp_path: Path, method: str
) -> None:
    async with world(db, tmp_path, method=method) as it:
        await it.connect()
        await it.connect()
        assert len(it.auth.clients) == 1
        (secret,) = [one.secret for one in it.auth.clients.values()]
        rows = await db.read(lambda tx: tx.execute(sa.select(client_registrations)).all())
        assert secret not in str(rows)


@on_sqlite
async def test_a_client_of_the_configuration_or_a_document_of_this_server_goes_before_registration(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACKER_SECRET", "hush-hush")
    async with world(db, tmp_path, answers={"client_id_metadata_document_supported": True}) as it:
        services = it.it.services
        public = replace(services.settings, server=ServerSettings(public_url="https://outlast.example.com"))
        with_document = replace(services, settings=public)
        begun = await actions.begin_sign_in(with_document, it.it.owner, it.server_id, "https://outlast.example.com")
        asked = parse_qs(urlsplit(begun.url).query)
        assert asked["client_id"] == ["https://outlast.example.com/.well-known/outlast-mcp-client.json"]
        services.accounts.oauth._configured = (ConnectionClient("ours", "TRACKER_SECRET", it.auth.issuer),)
        assert parse_qs(urlsplit(await it.begin()).query)["client_id"] == ["ours"]
        assert it.auth.clients == {}


async def test_two_people_have_two_accounts_and_neither_sees_the_others(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path) as it:
        ben = await db.write(make_user, "Ben")
        await db.write(join, it.it.project_id, ben, "editor")
        await it.connect(user="ana")
        await it.connect(ben, user="ben")
        assert sorted(token.user for token in it.auth.tokens) == ["ana", "ben"]
        await actions.disconnect(it.it.services, ben, it.server_id)
        assert [one.state for one in await it.accounts()] == ["connected"]
        assert [token.user for token in it.auth.tokens] == ["ana"]


@on_sqlite
async def test_everybody_connects_their_own_account_on_a_server_for_every_project(db: Database, tmp_path: Path) -> None:
    with auth_server(user="ben") as signs_in:
        async with (
            guarded_server(signs_in) as server,
            stage(db, tmp_path, [], settings=settings_for(server.place, f"127.0.0.1:{signs_in.port}")) as it,
        ):
            wanted = McpServerRequest(name="tracker", url=server.url, login="user")
            server_id = (await mcp.add_server(it.services, it.owner, None, wanted)).server.id
            ben = await db.write(make_user, "Ben")
            project_id = await db.write(make_project, ben)
            begun = await actions.begin_sign_in(it.services, ben, server_id, OWN)
            account = await actions.finish_sign_in(it.services, ben, await allow(begun.url))
            assert account.state == "connected"
            for actor, where, state in ((ben, project_id, "connected"), (it.owner, it.project_id, "missing")):
                assert [one.state for one in await actions.list_accounts(it.services, actor, where)] == [state]


async def test_a_state_is_good_once_for_its_user_and_session_and_for_ten_minutes(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path) as it:
        ben = await db.write(make_user, "Ben")
        await db.write(join, it.it.project_id, ben, "editor")
        came = await allow(await it.begin())
        for wrong, actor in ((came.model_copy(update={"state": "x"}), it.it.owner), (came, ben)):
            with pytest.raises(SignInExpired):
                await it.finish(wrong, actor)
        browser = replace(it.it.owner, via="session", session_hash="one")
        other = replace(browser, session_hash="two")
        mine = await allow(await it.begin(browser))
        with pytest.raises(SignInExpired):
            await it.finish(mine, other)
        assert (await it.finish(mine, browser)).state == "connected"
        assert (await it.finish(came)).state == "connected"  # the refused tries have not used it up
        with pytest.raises(SignInExpired):
            await it.finish(came)
        late = await allow(await it.begin())
        await db.write(lambda tx: tx.execute(sa.update(sign_ins).values(expires_at=tx.now - timedelta(seconds=1))))
        with pytest.raises(SignInExpired):
            await it.finish(late)
        assert len(it.auth.tokens) == 2


@on_sqlite
async def test_an_answer_of_another_issuer_or_of_none_is_refused_and_uses_up_the_state(
    db: Database, tmp_path: Path
) -> None:
    async with world(db, tmp_path) as it:
        came = await allow(await it.begin())
        with pytest.raises(SignInRefused, match="another sign-in server"):
            await it.finish(came.model_copy(update={"iss": "https://evil.example.com"}))
        with pytest.raises(SignInExpired):
            await it.finish(came)
        came = await allow(await it.begin())
        with pytest.raises(SignInRefused, match="does not name the server"):
            await it.finish(came.model_copy(update={"iss": None}))
        assert it.auth.tokens == []


@on_sqlite
async def test_what_the_person_or_the_server_refuses_is_said(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path) as it:
        came = await allow(await it.begin())
        with pytest.raises(SignInRefused, match="Access was not allowed"):
            await it.finish(came.model_copy(update={"code": None, "error": "access_denied"}))
        came = await allow(await it.begin())
        with pytest.raises(SignInRefused, match="invalid_grant"):
            await it.finish(came.model_copy(update={"code": "another"}))
        assert [one.state for one in await it.accounts()] == ["missing"]


UNSAFE: list[tuple[dict[str, Any], str]] = [
    ({"code_challenge_methods_supported": None}, "PKCE"),
    ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
    ({"issuer": "https://other.example.com"}, "another issuer"),
    ({"token_endpoint": "http://10.0.0.1/token"}, "private network"),
    ({"token_endpoint": "http://example.com/token"}, "https://"),
    ({"authorization_endpoint": "javascript:alert(1)"}, "cannot be used"),
    ({"registration_endpoint": None}, "registers no clients"),
    ({"registration_endpoint": "http://169.254.169.254/"}, "private network"),
]


@on_sqlite
async def test_a_sign_in_server_that_is_not_safe_is_refused(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path) as it:
        for answers, match in UNSAFE:
            it.auth.answers = answers
            with pytest.raises(SignInRefused, match=match):
                await it.begin()


@on_sqlite
async def test_metadata_of_another_resource_is_refused_and_the_server_is_not_added(
    db: Database, tmp_path: Path
) -> None:
    with auth_server() as signs_in:
        async with (
            guarded_server(signs_in, "http://127.0.0.1:{port}/other") as server,
            stage(db, tmp_path, [], settings=settings_for(server.place, f"127.0.0.1:{signs_in.port}")) as it,
        ):
            with pytest.raises(SignInRefused):
                await add(it, server)
            assert await mcp.list_servers(it.services, it.owner, it.project_id) == []


@on_sqlite
async def test_a_redirect_into_a_private_network_is_refused(db: Database, tmp_path: Path) -> None:
    import flask

    app = flask.Flask("redirects")

    @app.get("/.well-known/oauth-protected-resource/mcp")
    def away() -> Any:
        return flask.redirect("http://10.0.0.1/")

    with threaded(app) as port:
        async with stage(db, tmp_path, [], settings=settings_for(f"127.0.0.1:{port}")) as it:
            wanted = McpServerRequest(name="tracker", url=f"http://127.0.0.1:{port}/mcp", login="user")
            with pytest.raises(SignInRefused, match="private network"):
                await mcp.add_server(it.services, it.owner, it.project_id, wanted)
            private = wanted.model_copy(update={"url": f"http://localhost:{port}/mcp"})
            with pytest.raises(OutlastError):  # a name that leads to a private address
                await mcp.add_server(it.services, it.owner, it.project_id, private)


async def test_only_editors_connect_and_only_to_servers_that_sign_people_in(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path) as it:
        viewer, stranger = await db.write(make_user, "Vera"), await db.write(make_user, "Stan")
        await db.write(join, it.it.project_id, viewer, "viewer")
        for actor, error in ((viewer, Forbidden), (stranger, NotFound)):
            with pytest.raises(error):
                await it.begin(actor)
        wanted = McpServerRequest(name="other", url=it.server.url, login="user", secret="KEY")
        with pytest.raises(MalformedInput):
            await mcp.add_server(it.it.services, it.it.owner, it.it.project_id, wanted)


class Userinfo:
    """Takes the tokens for which a provider of OpenID Connect tells who their user is."""

    def __init__(self, signs_in: AuthServer) -> None:
        self._url = f"{signs_in.issuer}/userinfo"

    async def verify_token(self, token: str) -> AccessToken | None:
        async with httpx.AsyncClient() as client:
            answer = await client.get(self._url, headers={"Authorization": f"Bearer {token}"})
        good = AccessToken(token=token, client_id="any", scopes=["openid"], subject="ana")
        return good if answer.status_code == 200 else None


@on_sqlite
async def test_an_ordinary_provider_signs_a_person_in_once_it_supports_pkce(db: Database, tmp_path: Path) -> None:
    """`oidc-provider-mock` as it is names no code challenge methods, so it is refused; with them it works."""
    import flask

    provider = oidc_app()
    methods: dict[str, Any] = {}

    @provider.after_request
    def add_methods(answer: flask.Response) -> flask.Response:
        if answer.is_json and flask.request.path == "/.well-known/openid-configuration":
            answer.set_data(flask.json.dumps(answer.get_json() | methods))
        return answer

    with threaded(provider) as port:
        signs_in = AuthServer(port=port)
        async with guarded_server(signs_in, scopes=["openid"], verifier=Userinfo(signs_in)) as server:
            places = settings_for(server.place, f"127.0.0.1:{port}")
            async with stage(db, tmp_path, [], settings=places) as it:
                with pytest.raises(SignInRefused, match="PKCE"):
                    await add(it, server)
                methods |= {"code_challenge_methods_supported": ["S256"]}
                found = await add(it, server)
                begun = await actions.begin_sign_in(it.services, it.owner, found.server.id, OWN)
                came = await allow(begun.url, sub="ana")
                assert (await actions.finish_sign_in(it.services, it.owner, came)).state == "connected"

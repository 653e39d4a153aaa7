"""Accounts on services of the configuration: the whole sign-in of each kind over HTTP, its test, renewal, revocation,
and runs that wait for one."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import sqlalchemy as sa

from outlast.base.agent_errors import UnknownConnection
from outlast.base.connection_errors import ConnectionNeeded, SignInExpired, SignInFailed, SignInRefused
from outlast.base.errors import NotFound
from outlast.base.secret_errors import SecretNameTaken
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.prompt import Conversation
from outlast.kernel.agents.tool import tool
from outlast.kernel.connections import actions
from outlast.kernel.connections.account_tokens import Account
from outlast.kernel.connections.kinds import KINDS
from outlast.kernel.connections.service_accounts import AccountSecrets
from outlast.kernel.connections.settings import ConnectionClient
from outlast.kernel.connections.shapes import SignInCallbackRequest
from outlast.kernel.connections.tables import connections
from outlast.kernel.mcp import actions as mcp
from outlast.kernel.mcp.settings import McpSettings
from outlast.kernel.mcp.shapes import McpServerRequest
from outlast.kernel.runs.settings import RetrySettings
from outlast.kernel.runs.store import run_of
from outlast.kernel.runs.tables import runs
from outlast.kernel.secrets import actions as saved
from outlast.kernel.settings import Settings
from outlast.kernel.settings.server import ServerSettings
from outlast.surfaces.cli.connection_checks import NO_ACCOUNT, check_connections
from outlast.testing.scripted_model import Call, turn
from outlast_sandbox.egress.rules import Policy, SecretRule
from outlast_sandbox.host_patterns import parse_pattern
from tests.factories import join, make_user
from tests.flow.connections.auth_server import auth_server
from tests.flow.connections.guarded_server import guarded_server
from tests.flow.connections.service_servers import CLIENT, SECRET, ServiceServer, service_server
from tests.flow.connections.test_sign_in import OWN, allow, brought_back
from tests.flow.harness import Stage, stage, told_last
from tests.flow.mcp.tool_server import tool_server

PATHS = {
    "github": ("/login/oauth/authorize", "/login/oauth/access_token", f"/applications/{CLIENT}/grant", "/user"),
    "linear": ("/oauth/authorize", "/oauth/token", "/oauth/revoke", "/graphql"),
    "slack": ("/oauth/v2/authorize", "/api/oauth.v2.access", "/api/auth.revoke", "/api/auth.test"),
    "google": ("/o/oauth2/v2/auth", "/token", "/revoke", "/v1/userinfo"),
    "generic": ("/o/oauth2/v2/auth", "/token", "/revoke", "/v1/userinfo"),
}
NAMES = {
    "github": "ana",
    "linear": "ana@example.com",
    "slack": "ana (Tests)",
    "google": "ana@example.com",
    "generic": "ana@example.com",
}
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
each_kind = pytest.mark.parametrize("kind", list(PATHS))


@dataclass
class World:
    """A project, and a service on which people connect accounts."""

    it: Stage
    server: ServiceServer
    kind: str
    service_id: str

    async def begin(self, actor: Actor | None = None) -> str:
        return (await actions.begin_sign_in(self.it.services, actor or self.it.owner, self.service_id, OWN)).url

    async def finish(self, came: SignInCallbackRequest, actor: Actor | None = None) -> Any:
        return await actions.finish_sign_in(self.it.services, actor or self.it.owner, came)

    async def connect(self, actor: Actor | None = None, user: str = "ana") -> Any:
        self.server.user = user
        return await self.finish(await allow(await self.begin(actor)), actor)

    async def account(self, actor: Actor | None = None) -> Any:
        (found,) = await actions.list_accounts(self.it.services, actor or self.it.owner, self.it.project_id)
        return found

    async def test(self, actor: Actor | None = None) -> Any:
        return await actions.test_connection(self.it.services, actor or self.it.owner, self.service_id)

    async def token(self, actor: Actor | None = None) -> str:
        account = Account((actor or self.it.owner).user_id, self.service_id, "GitHub")
        return await self.it.services.accounts.use(account, _itself)


async def _itself(access: str) -> str:
    return access


def configured(server: ServiceServer, kind: str, **more: Any) -> ConnectionClient:
    names = ("authorization_url", "token_url", "revocation_url", "test_url")
    urls = {name: server.url + path for name, path in zip(names, PATHS[kind], strict=True)}
    given = {"name": "forge", "hosts": (f"127.0.0.1:{server.port}",), "scopes": ("files",)} if kind == "generic" else {}
    return ConnectionClient(CLIENT, "FORGE_SECRET", kind=kind, **{**urls, **given, **more})


@tool
async def push(ctx: Context) -> str:
    """Push the work."""
    return await ctx.connect("github")


AGENT = Agent("chat", tools=[push], context=lambda _: Conversation(()), connections=["github", "forge"])


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGE_SECRET", SECRET)


@asynccontextmanager
async def world(
    db: Database, folder: Path, kind: str, turns: Any = (), agent: Agent = AGENT, **options: Any
) -> AsyncIterator[World]:
    given, places = options.pop("given", {}), options.pop("places", ())
    with service_server(kind, **options) as server:
        chosen = Settings(
            mcp=McpSettings(allow_private=(f"127.0.0.1:{server.port}", *places)),
            retry=RetrySettings(attempts=0),
            connections=(configured(server, kind, **given),),
        )
        async with stage(db, folder, list(turns), settings=chosen, agent=agent) as it:
            await actions.follow_settings(it.services)
            await actions.follow_settings(it.services)
            (account,) = await actions.list_accounts(it.services, it.owner, it.project_id)
            yield World(it, server, kind, account.server_id)


@on_sqlite
@each_kind
async def test_an_account_of_each_kind_is_connected_named_renewed_lost_connected_again_and_revoked(
    db: Database, tmp_path: Path, kind: str
) -> None:
    async with world(db, tmp_path, kind, expires=True) as it:
        before = await it.account()
        assert (before.state, before.server) == ("missing", KINDS[kind].title or "Forge")
        asked = parse_qs(urlsplit(url := await it.begin()).query)
        assert ("code_challenge" in asked) is KINDS[kind].has_pkce
        assert "resource" not in asked
        found = await it.finish(await allow(url))
        assert (found.state, found.account) == ("connected", NAMES[kind])
        first = await it.token()
        it.server.age()
        await db.write(lambda tx: tx.execute(sa.update(connections).values(expires_at=tx.now)))
        second = await it.token()
        assert (it.server.renewals, first != second, (await it.test()).account) == (1, True, NAMES[kind])
        it.server.end_all()
        with pytest.raises(ConnectionNeeded):
            await it.test()
        assert (await it.account()).state == "lost"
        await it.connect()
        assert (await it.account()).state == "connected"
        await actions.disconnect(it.it.services, it.it.owner, it.service_id)
        assert it.server.live == {}
        assert (await it.account()).state == "missing"


@on_sqlite
async def test_each_kind_asks_for_scopes_and_a_refresh_token_as_its_reference_says(
    db: Database, tmp_path: Path
) -> None:
    wanted = {
        "github": {"scope": ["repo read:user"]},
        "linear": {"scope": ["repo,read:user"], "actor": ["user"], "prompt": ["consent"]},
        "slack": {"user_scope": ["repo,read:user"]},
        "google": {"scope": ["openid email repo read:user"], "access_type": ["offline"], "prompt": ["consent"]},
    }
    for kind, parameters in wanted.items():
        async with world(db, tmp_path, kind, given={"scopes": ("repo", "read:user")}) as it:
            asked = parse_qs(urlsplit(await it.begin()).query)
            assert {name: asked.get(name) for name in parameters} == parameters
            assert ("scope" in asked) is (kind != "slack")


@on_sqlite
async def test_a_token_that_never_ends_is_used_until_the_service_refuses_it(db: Database, tmp_path: Path) -> None:
    """An OAuth app of GitHub gives neither an end nor a refresh token."""
    async with world(db, tmp_path, "github") as it:
        await it.connect()
        await db.write(lambda tx: tx.execute(sa.update(connections).values(connected_at=tx.now - timedelta(days=900))))
        assert await it.token() == next(iter(it.server.live))
        it.server.end_all()
        with pytest.raises(ConnectionNeeded):
            await it.test()
        assert (await it.account()).state == "lost"


@on_sqlite
@each_kind
async def test_a_wrong_state_code_issuer_or_secret_connects_nothing(db: Database, tmp_path: Path, kind: str) -> None:
    async with world(db, tmp_path, kind, given={"issuer": "https://login.example.com"}) as it:
        came = await allow(await it.begin())
        with pytest.raises(SignInExpired):
            await it.finish(came.model_copy(update={"state": "another"}))
        with pytest.raises(SignInRefused, match="another sign-in server"):
            await it.finish(came.model_copy(update={"iss": "https://evil.example.com"}))
        with pytest.raises(SignInExpired):  # it is used up
            await it.finish(came)
        came = await allow(await it.begin())
        with pytest.raises(SignInRefused):
            await it.finish(came.model_copy(update={"code": "another"}))
        it.server.client_secret = "changed there"
        came = await allow(await it.begin())
        with pytest.raises(SignInRefused):
            await it.finish(came)
        assert (await it.account()).state == "missing"
        it.server.client_secret, it.server.iss = SECRET, "https://login.example.com"
        assert (await it.connect()).state == "connected"


@on_sqlite
@pytest.mark.parametrize("kind", ["github", "slack", "google"])
async def test_a_wrong_secret_in_the_configuration_loses_no_account(db: Database, tmp_path: Path, kind: str) -> None:
    async with world(db, tmp_path, kind, expires=True) as it:
        await it.connect()
        await db.write(lambda tx: tx.execute(sa.update(connections).values(expires_at=tx.now)))
        it.server.client_secret = "changed there"
        with pytest.raises(SignInFailed, match="does not accept this server's client"):
            await it.token()
        it.server.client_secret = SECRET
        assert await it.token()
        assert (await it.account()).state == "connected"


@on_sqlite
@pytest.mark.parametrize("kind", ["slack", "generic"])
async def test_a_hostile_mcp_server_gets_no_code_of_a_service_by_sending_people_on_to_its_sign_in(
    db: Database, tmp_path: Path, kind: str
) -> None:
    """The mix-up of RFC 9700 §4.4: a person signs in to the hostile server, whose page leads to the service's own."""
    with auth_server() as hostile:
        async with guarded_server(hostile) as evil:
            places = (evil.place, f"127.0.0.1:{hostile.port}")
            async with world(db, tmp_path, kind, places=places) as it:
                name = "forge" if kind == "generic" else kind
                asked = parse_qs(urlsplit(await it.begin()).query)
                assert asked["redirect_uri"] == [f"{OWN}/connections/callback/{name}"]
                (it.server.registered,) = asked["redirect_uri"]
                wanted = McpServerRequest(name="evil", url=evil.url, login="user")
                added = await mcp.add_server(it.it.services, it.it.owner, it.it.project_id, wanted)

                async def lead_on(redirect_uri: str) -> httpx.Response:
                    begun = await actions.begin_sign_in(it.it.services, it.it.owner, added.server.id, OWN)
                    (state,) = parse_qs(urlsplit(begun.url).query)["state"]
                    sent = {"client_id": CLIENT, "response_type": "code", "redirect_uri": redirect_uri, "state": state}
                    async with httpx.AsyncClient() as browser:
                        return await browser.post(it.server.url + PATHS[kind][0], params=sent)

                assert (await lead_on(f"{OWN}/connections/callback")).status_code == 400  # not registered there
                came = brought_back((await lead_on(it.server.registered)).headers["location"])
                with pytest.raises(SignInRefused, match="another server"):
                    await it.finish(came)
                assert came.code in it.server.codes
                assert hostile.forms == []
                assert {
                    one.state for one in await actions.list_accounts(it.it.services, it.it.owner, it.it.project_id)
                } == {"missing"}
                for other in (None, "another"):  # a code of the hostile server is not sent to the service either
                    began = await allow(await it.begin())
                    with pytest.raises(SignInRefused, match="another server"):
                        await it.finish(began.model_copy(update={"service": other}))
                assert (await it.connect()).state == "connected"


async def test_two_people_have_two_accounts_and_neither_sees_the_others(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path, "github") as it:
        ben = await db.write(make_user, "Ben")
        await db.write(join, it.it.project_id, ben, "editor")
        await it.connect()
        assert (await it.account(ben)).state == "missing"
        with pytest.raises(ConnectionNeeded):
            await it.test(ben)
        assert (await it.connect(ben, "ben")).account == "ben"
        assert (await it.account()).account == "ana"


async def test_a_run_waits_for_the_account_and_goes_on_with_it_also_after_a_loss(db: Database, tmp_path: Path) -> None:
    turns = [turn(Call("github__connect", {})), turn(Call("push", {})), turn("Pushed.")]
    async with world(db, tmp_path, "github", turns) as it:
        started = await it.it.start()
        asked = (await it.it.until(started.run_id, "question.asked"))["data"]["question"]
        assert asked["questions"][0]["question"].startswith("Connect your account on GitHub (127.0.0.1)?")
        await it.it.until_status(started.run_id, "awaiting_approval")
        await it.connect()
        assert await it.it.ended(started.run_id) == "completed"
        (said,) = told_last(it.it.model.requests[1])
        assert said.startswith("The account on GitHub is connected as ana.")
        assert told_last(it.it.model.requests[2]) == ["OUTLAST_SECRET_GITHUB_TOKEN_PLACEHOLDER"]
        (described,) = [one for one in it.it.model.requests[0].tools if one.name == "github__connect"]
        assert "$GITHUB_TOKEN" in described.description


@on_sqlite
async def test_a_person_may_go_on_without_and_a_function_gets_an_error(db: Database, tmp_path: Path) -> None:
    from outlast.kernel.runs.approval_actions import answer_question

    turns = [turn(Call("push", {})), turn("Then not.")]
    async with world(db, tmp_path, "github", turns) as it:
        started = await it.it.start()
        asked = (await it.it.until(started.run_id, "question.asked"))["data"]["question"]
        await answer_question(it.it.services, it.it.owner, asked["id"], {"answer": "Continue without it"})
        assert await it.it.ended(started.run_id) == "completed"
        (said,) = told_last(it.it.model.requests[1])
        assert "did not connect their account on GitHub" in said


@on_sqlite
async def test_only_agents_that_name_a_connection_get_it(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path, "github", [turn("Done.")], agent=Agent("chat", tools=[push])) as it:
        assert await it.it.ended((await it.it.start()).run_id) == "completed"
        assert "github__connect" not in [one.name for one in it.it.model.requests[0].tools]
    connected = it.it.services.engine.connected
    with pytest.raises(UnknownConnection):
        await connected.connect(None, None, Agent("other"), "github")  # type: ignore[arg-type]


def put_leg(tx: Tx, leg: str) -> None:
    tx.execute(sa.update(runs).values(leg=leg))


@on_sqlite
async def test_the_token_is_for_the_hosts_of_the_service_and_runs_of_its_agents_and_their_person_only(
    db: Database, tmp_path: Path
) -> None:
    async with world(db, tmp_path, "github", [turn("Done.")]) as it:
        await it.connect()
        services, agents = it.it.services, it.it.services.engine.agents
        found = AccountSecrets(db, services.accounts, agents)
        (rule,) = found.widened(Policy()).secrets
        assert (rule.name, [str(one) for one in rule.hosts]) == (
            "GITHUB_TOKEN",
            ["api.github.com", "github.com", "uploads.github.com"],
        )

        async def others(user_id: str | None, project_id: str, name: str) -> str | None:
            return f"other {name}"

        look_up = found.beside(others, "wsp_1", found.widened(Policy()))
        assert await look_up(None, it.it.project_id, "OTHER") == "other OTHER"
        assert await look_up(None, it.it.project_id, "GITHUB_TOKEN") is None  # no run works there
        started = await it.it.start()
        await it.it.ended(started.run_id)
        await db.write(lambda tx: tx.execute(sa.update(runs).values(workspace_id="wsp_1")))
        assert (await db.read(run_of, started.run_id)).started_by == it.it.owner.user_id
        for leg, has in (("ended", False), ("parked", False), ("ready", True), ("held", True)):
            await db.write(put_leg, leg)
            token = await look_up(None, it.it.project_id, "GITHUB_TOKEN")
            assert (token in it.server.live) is has, leg
        await db.write(lambda tx: tx.execute(sa.update(runs).values(profile="other")))
        assert await look_up(None, it.it.project_id, "GITHUB_TOKEN") is None
        ben = await db.write(make_user, "Ben")
        await db.write(lambda tx: tx.execute(sa.update(runs).values(profile="chat", started_by=ben.user_id)))
        assert await look_up(None, it.it.project_id, "GITHUB_TOKEN") is None


@on_sqlite
async def test_the_token_never_goes_to_the_hosts_of_another_secret_of_the_same_name(
    db: Database, tmp_path: Path
) -> None:
    async with world(db, tmp_path, "github", [turn("Done.")]) as it:
        await it.connect()
        await it.it.ended((await it.it.start()).run_id)
        await db.write(lambda tx: tx.execute(sa.update(runs).values(workspace_id="wsp_1", leg="held")))
        found = AccountSecrets(db, it.it.services.accounts, it.it.services.engine.agents)
        taken = Policy(secrets=(SecretRule("GITHUB_TOKEN", (parse_pattern("ghe.corp"),)),))
        assert found.widened(taken) == taken

        async def others(user_id: str | None, project_id: str, name: str) -> str | None:
            return f"other {name}"

        look_up = found.beside(others, "wsp_1", found.widened(taken))
        assert await look_up(None, it.it.project_id, "GITHUB_TOKEN") == "other GITHUB_TOKEN"


@on_sqlite
async def test_a_service_is_no_mcp_server_and_its_variable_is_taken(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path, "github") as it:
        services, owner = it.it.services, it.it.owner
        assert await mcp.list_servers(services, owner, it.it.project_id) == []
        with pytest.raises(NotFound):
            await mcp.list_tools(services, owner, it.service_id)
        with pytest.raises(SecretNameTaken):
            await saved.create_secret(services, owner, it.it.project_id, "GITHUB_TOKEN", ["api.github.com"], "x")


@on_sqlite
async def test_the_doctor_tries_services_and_servers_and_remembers_which_passed(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server.key").write_text(base64.b64encode(b"k" * 32).decode())
    async with world(db, tmp_path, "github") as it, tool_server() as tracker:
        place = f"127.0.0.1:{it.server.port}"
        settings = replace(
            it.it.services.settings,
            server=ServerSettings(data_dir=str(tmp_path)),
            mcp=McpSettings(allow_private=(place, tracker.place)),
        )
        services = replace(it.it.services, settings=settings)
        wanted = McpServerRequest(name="tracker", url=tracker.url)
        await mcp.add_server(services, it.it.owner, it.it.project_id, wanted)

        async def look() -> list[tuple[str, str]]:
            return [(one.verdict, one.found) for one in await check_connections(db, settings)]

        tracked = ("ok", f"lists {len(await tracker.mcp.list_tools())} tools")
        assert await look() == [("note", NO_ACCOUNT), tracked]
        await it.connect()
        assert (await it.account()).service.passed_at is None
        assert await look() == [("ok", "works, as ana"), tracked]
        assert (await it.account()).service.passed_at is not None
        it.server.client_secret = "changed there"
        assert (await look())[0][1].startswith("GitHub does not accept the client id and secret")
        it.server.client_secret = SECRET
        it.server.end_all()
        assert (await look())[0] == ("bad", "The account on GitHub is not connected.")
        monkeypatch.delenv("FORGE_SECRET")
        assert (await look())[0] == ("bad", "FORGE_SECRET is not set")

"""MCP servers that the code of an agent names with `login="user"`: each person connects their own account."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from outlast import Agent, mcp
from outlast.db.database import Database
from outlast.kernel.mcp import actions as servers
from outlast.kernel.mcp.code_servers import follow_code
from outlast.kernel.runs.approval_actions import answer_question
from outlast.testing.scripted_model import Call, Turn, turn
from tests.factories import join, make_user
from tests.flow.connections.auth_server import auth_server
from tests.flow.connections.guarded_server import guarded_server
from tests.flow.connections.test_sign_in import World, settings_for
from tests.flow.harness import stage, told_last

CONNECT = Call("tracker__connect", {})
WHOAMI = Call("tracker__whoami", {})


@asynccontextmanager
async def named(db: Database, folder: Path, turns: list[Turn]) -> AsyncIterator[World]:
    """A server whose agent names the tracker, on which nobody has connected an account."""
    with auth_server() as signs_in:
        async with guarded_server(signs_in) as server:
            agent = Agent("chat", tools=[mcp.http(server.url, name="tracker", login="user")])
            settings = settings_for(server.place, f"127.0.0.1:{signs_in.port}")
            async with stage(db, folder, turns, settings=settings, agent=agent) as it:
                await follow_code(it.services)
                (kept,) = await servers.list_servers(it.services, it.owner, it.project_id)
                yield World(it, signs_in, server, await servers.list_tools(it.services, it.owner, kept.id))


def offered(it: World, number: int) -> list[str]:
    return [spec.name for spec in it.it.model.requests[number].tools if spec.name.startswith("tracker__")]


async def test_a_run_asks_for_an_account_when_its_agent_needs_the_tools_and_has_them_in_its_next_turn(
    db: Database, tmp_path: Path
) -> None:
    async with named(db, tmp_path, [turn(CONNECT), turn(WHOAMI), turn("Ana.")]) as it:
        run = await it.it.start()
        asked = (await it.it.until(run.run_id, "question.asked"))["data"]["question"]
        assert asked["account"]["server"] == "tracker"
        await it.it.until_status(run.run_id, "awaiting_approval")
        assert offered(it, 0) == ["tracker__connect"]
        await it.connect()
        await it.it.ended(run.run_id)
        assert "tracker__whoami" in offered(it, 1)
        assert "tracker__connect" not in offered(it, 1)
        assert it.server.calls == [("whoami", {"user": "ana"})]
        (mine,) = await it.accounts()
        assert (mine.state, mine.project_id) == ("connected", None)


async def test_a_run_goes_on_without_an_account_that_its_person_does_not_connect(db: Database, tmp_path: Path) -> None:
    async with named(db, tmp_path, [turn(CONNECT), turn("Then without.")]) as it:
        run = await it.it.start()
        asked = (await it.it.until(run.run_id, "question.asked"))["data"]["question"]
        await it.it.until_status(run.run_id, "awaiting_approval")
        await answer_question(it.it.services, it.it.owner, asked["id"], {"answer": "Continue without it"})
        await it.it.ended(run.run_id)
        assert told_last(it.it.model.requests[1])[0].startswith("The person did not connect their account on tracker")
        assert offered(it, 1) == ["tracker__connect"]


async def test_each_member_sees_and_connects_their_own_account(db: Database, tmp_path: Path) -> None:
    async with named(db, tmp_path, []) as it:
        ben = await db.write(make_user, "Ben")
        assert [one.state for one in await it.accounts()] == ["missing"]
        await db.write(join, it.it.project_id, ben, "viewer")
        account = await it.connect(ben, user="ben")
        assert account.state == "connected"
        assert [one.state for one in await it.accounts(ben)] == ["connected"]
        assert [one.state for one in await it.accounts()] == ["missing"]


def test_a_login_takes_no_secret() -> None:
    with pytest.raises(ValueError, match="takes a secret, or login='user'"):
        mcp.http("https://mcp.linear.app/mcp", secret="KEY", login="user")

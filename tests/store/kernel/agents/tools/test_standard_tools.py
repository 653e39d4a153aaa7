"""An operator's agent has the tools of the server that loads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast import Agent, Context, flow, tool, web_fetch, web_search
from outlast.base.errors import StartRefused
from outlast.db.database import Database
from outlast.kernel.agents.tools.standard_tools import OwnTools
from outlast.kernel.agents.tools.web import WEB_TOOLS, web_fetch_tool
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.settings import Settings
from tests.factories import make_opening


@tool
def read_file(name: str) -> str:
    """Read a file in our archive."""
    return name


@flow("digest", sandbox=True)
async def digest(_ctx: Context) -> str:
    return ""


def names_of(agent: Agent) -> list[str]:
    return [one.name for one in agent.tools]


async def test_an_agent_gets_the_files_of_the_project_and_keeps_its_own_tool_of_the_same_name(
    db: Database, tmp_path: Path
) -> None:
    given = OwnTools(make_opening(db, tmp_path))
    own = given.give(Agent("archive", tools=[read_file]))
    assert names_of(own) == ["read_file", "search_files"]
    assert own.tool("read_file") is read_file
    assert names_of(given.give(Agent("persona"))) == ["search_files", "read_file"]
    assert names_of(given.give(Agent("alone", extends=False))) == []
    assert given.give(digest) is digest


async def test_an_agent_with_a_sandbox_gets_the_tools_of_one_if_the_server_has_any(
    db: Database, tmp_path: Path
) -> None:
    analyst = Agent("analyst", sandbox=True)
    without = OwnTools(make_opening(db, tmp_path, Settings(sandbox=None))).give(analyst)
    assert "terminal" not in names_of(without)
    own = OwnTools(make_opening(db, tmp_path, Settings(sandbox=SandboxSettings()))).give(analyst)
    assert {"terminal", "run_code", "read_files", "create_or_update_files", "show_file"} <= set(names_of(own))


async def test_an_agent_that_names_the_tools_for_the_web_gets_those_that_the_server_offers(
    db: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    offered = web_fetch_tool()
    given = OwnTools(make_opening(db, tmp_path, implementations={WEB_TOOLS: [offered]}))
    own = given.give(Agent("scout", tools=[web_search, read_file, web_fetch], extends=False))
    assert names_of(own) == ["read_file", "web_fetch"]
    assert own.tool("web_fetch") is offered
    assert [record.tools for record in caplog.records] == [["web_search"]]  # type: ignore[attr-defined]  # its extra
    with pytest.raises(StartRefused, match="must call web_search, which this server does not offer"):
        given.give(Agent("scout", tools=[web_search], tool_choice="web_search"))

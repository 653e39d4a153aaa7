"""An operator's agent has the tools of the server that loads it."""

from __future__ import annotations

from pathlib import Path

from outlast import Agent, Context, flow, tool
from outlast.db.database import Database
from outlast.kernel.agents.tools.standard_tools import OwnTools
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

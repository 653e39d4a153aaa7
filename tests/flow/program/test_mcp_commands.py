"""`outlast mcp …` against a server of its own process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from anyio import to_thread

from tests.flow.mcp.tool_server import tool_server
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast

pytestmark = pytest.mark.timeout(180)


async def test_a_server_is_added_its_tools_allowed_and_it_is_removed_from_a_shell(tmp_path: Path) -> None:
    config = tmp_path / "outlast.toml"
    async with tool_server() as server:
        more = f'[mcp]\nallow_private = ["{server.place}"]\n'
        config.write_text(CONFIG.format(folder=tmp_path / "data") + more)

        def use() -> None:
            with served(config) as address:

                def run(*words: str) -> str:
                    return outlast("mcp", *words, url=address).stdout

                def states() -> dict[str, str]:
                    found = json.loads(run("tools", "tracker", "--json"))
                    return {tool["name"]: tool["state"] for tool in found["items"]}

                assert "tracker.create_issue" in run("add", "tracker", server.url)
                (listed,) = json.loads(run("list", "--json"))["items"]
                assert (listed["name"], listed["tools"], listed["waiting"]) == ("tracker", 6, 6)
                run("allow", "tracker", "find")
                assert [name for name, state in states().items() if state == "allowed"] == ["find"]
                run("allow", "tracker")
                run("forbid", "tracker", "delete_all")
                run("tools", "tracker", "--refresh")
                assert [name for name, state in states().items() if state != "allowed"] == ["delete_all"]
                assert "removed" in run("remove", "tracker")
                assert json.loads(run("list", "--json"))["items"] == []
                run("add", "tracker", server.url, "--every-project")
                (listed,) = json.loads(run("list", "--json"))["items"]
                assert (listed["origin"], listed["project_id"]) == ("server", None)
                assert " server " in " ".join(run("list").split())
                assert "removed" in run("remove", "tracker")

        await to_thread.run_sync(use)

"""`outlast dev` in a process of its own: a saved file becomes an agent, and a broken one changes nothing."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast
from tests.forked import Forked

AGENT = "from outlast import Agent\n\n{name} = Agent({name!r}, title={title!r}, icon='🛟')\n"


def agents_at(address: str, is_there: Callable[[Any], bool]) -> Any:
    """The list of agents once it is as wanted."""
    until, found = time.monotonic() + 120, None
    while time.monotonic() < until:
        with urllib.request.urlopen(f"{address}/v1/agents", timeout=30) as answer:
            found = json.load(answer)
        if is_there(found):
            return found
    raise AssertionError(found)


def names_in(found: Any) -> list[str]:
    return [agent["name"] for agent in found["items"]]


def test_agents_follow_the_files_that_are_saved_and_a_broken_file_keeps_the_earlier_ones(tmp_path: Path) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    file, config = folder / "shop.py", tmp_path / "outlast.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "data"))
    with served(config, "dev") as address:
        assert names_in(agents_at(address, lambda found: found["reloads"])) == ["chat"]
        file.write_text(AGENT.format(name="support", title="Support"))
        found = agents_at(address, lambda found: len(found["items"]) == 2)
        own = found["items"][1]
        assert (own["title"], own["icon"], own["origin"], own["usable"]) == ("Support", "🛟", "own", True)
        listed = outlast("agents", "list", url=address)
        assert [line.split()[0] for line in listed.stdout.splitlines()] == ["agent", "chat", "support"]
        assert json.loads(outlast("agents", "list", "--json", url=address).stdout)["items"] == found["items"]
        file.write_text("from outlast import Agent\nsupport = Agent(\n")
        broken = agents_at(address, lambda found: found["problem"])
        assert names_in(broken) == ["chat", "support"]
        assert broken["problem"].startswith("Agents cannot be loaded from agents/shop.py:2: SyntaxError")
        file.write_text(AGENT.format(name="repairs", title="Repairs"))
        agents_at(address, lambda found: names_in(found) == ["chat", "repairs"] and found["problem"] is None)
    assert "agents/shop.py:2: SyntaxError" in config.with_suffix(".log").read_text()


def test_a_server_refuses_to_start_with_a_broken_file_and_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "shop.py").write_text("from outlast import Agent, tol\n")
    config = tmp_path / "outlast.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "data"))
    log = tmp_path / "refused.log"
    with Forked(["serve", "--config", str(config)], log) as process:
        assert process.wait(60) == 2
    assert "agents/shop.py:1: ImportError" in log.read_text()

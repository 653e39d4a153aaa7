"""`outlast sandboxes …` against a server with a real sandbox."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from outlast.kernel.cli.exits import Exit
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("sandboxes")
    file = folder / "outlast.toml"
    warm = 'provider = "local"\nmode = "warm"\nmemory_mb = 256'
    file.write_text(CONFIG.format(folder=folder / "data").replace('provider = "none"', warm))
    with served(file) as address:
        yield address


@pytest.fixture
def sandbox(server: str) -> str:
    """A sandbox made ahead of its use: a warm thread's."""
    assert outlast("runs", "start", "Hello", url=server).returncode == Exit.OK
    for _ in range(200):
        items = json.loads(outlast("sandboxes", "list", "--json", url=server).stdout)["items"]
        ready = [item["id"] for item in items if item["state"] == "ready"]
        if ready:
            return str(ready[0])
    raise AssertionError("no sandbox was warmed")


def test_a_sandbox_is_listed_shown_paused_resumed_and_ended(server: str, sandbox: str) -> None:
    listed = outlast("sandboxes", "list", url=server).stdout
    assert sandbox in listed
    assert "iB" in listed
    assert "pauses in" in listed
    shown = json.loads(outlast("sandboxes", "show", sandbox, "--json", url=server).stdout)
    assert shown["memory_bytes"] > 0
    assert [clock["name"] for clock in shown["clocks"]] == ["sandbox_pause", "sandbox_stop", "sandbox_kill"]
    assert shown["limits"]["memory_bytes"] == 256 * 1024 * 1024
    assert outlast("sandboxes", "pause", sandbox, url=server).stdout == f"{sandbox}: frozen\n"
    assert outlast("sandboxes", "resume", sandbox, url=server).stdout == f"{sandbox}: ready\n"
    assert outlast("sandboxes", "logs", sandbox, url=server).returncode == Exit.OK
    asked = outlast("sandboxes", "kill", sandbox, url=server, stdin="n\n")
    assert asked.returncode != Exit.OK
    assert outlast("sandboxes", "kill", "--yes", sandbox, url=server).stdout == f"{sandbox}: killed\n"
    assert sandbox not in outlast("sandboxes", "list", url=server).stdout


def test_a_log_that_is_not_there_is_told_with_those_that_are(server: str, sandbox: str) -> None:
    told = outlast("sandboxes", "logs", sandbox, "--service", "web", url=server)
    assert told.returncode == Exit.REFUSED_TO_START
    assert "Use one of: sandbox" in told.stderr


def test_a_sandbox_that_is_not_there_is_told_in_words(server: str) -> None:
    told = outlast("sandboxes", "pause", "sbx_none", url=server)
    assert told.returncode == Exit.REFUSED
    assert "not_found" in told.stderr

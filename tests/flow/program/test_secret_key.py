"""A server whose key of saved secrets is gone does not start, names the key, and starts again once it has it."""

from __future__ import annotations

import json
from pathlib import Path

from outlast.kernel.cli.exits import Exit
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast
from tests.forked import Forked

SECRET = "the-value-that-is-never-printed-81"
OTHER_KEY = "c" * 43 + "="


def refused(config: Path) -> str:
    """What a server that must not start says."""
    log = config.with_suffix(".refused")
    log.write_text("")
    with Forked(["serve", "--config", str(config)], log) as process:
        assert process.wait(60) == Exit.REFUSED_TO_START, log.read_text()
    return log.read_text()


def saved(address: str) -> list[str]:
    listed = outlast("secrets", "list", "--json", url=address)
    assert listed.returncode == Exit.OK, listed.stderr
    return [item["name"] for item in json.loads(listed.stdout)["items"]]


def test_a_server_without_the_key_of_its_saved_secrets_does_not_start_until_it_has_it_again(tmp_path: Path) -> None:
    config = tmp_path / "outlast.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "data"))
    key_file = tmp_path / "data" / "server.key"
    with served(config) as address:
        made = outlast("secrets", "create", "TRACKER_KEY", "--host", "tracker.example", url=address, stdin=SECRET)
        assert made.returncode == Exit.OK, made.stderr
    key = key_file.read_text()

    key_file.unlink()
    said = refused(config)
    assert "secret_key_missing" in said
    assert "server.key" in said
    assert SECRET not in said
    assert key.strip() not in said
    assert "Traceback" not in said

    key_file.write_text(f"{OTHER_KEY}\n{key}")
    with served(config) as address:
        assert saved(address) == ["TRACKER_KEY"]

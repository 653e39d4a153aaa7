"""`outlast logs` beside a server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from outlast.kernel.cli.exits import Exit
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast


def test_the_log_of_a_server_is_shown_and_followed(tmp_path: Path) -> None:
    config = tmp_path / "outlast.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "data"))
    logs = [sys.executable, "-m", "outlast", "logs", "--limit", "1", "--config", str(config)]
    with served(config) as url:
        assert outlast("projects", "list", url=url).returncode == Exit.OK
        shown = subprocess.check_output(logs, text=True)
        assert "path=/v1/projects" in shown
        with subprocess.Popen([*logs, "--follow"], stdout=subprocess.PIPE, text=True) as following:
            assert following.stdout is not None
            assert following.stdout.readline() == shown
            assert outlast("threads", "list", url=url).returncode == Exit.OK
            assert any("/threads" in line for line in following.stdout)
            following.terminate()


def test_a_folder_without_a_log_is_named_with_what_to_do(tmp_path: Path) -> None:
    refused = outlast("logs", "--data-dir", str(tmp_path))
    assert refused.returncode != Exit.OK
    assert str(tmp_path) in refused.stderr

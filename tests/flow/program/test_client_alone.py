"""The package outlast-client without the server: what its README shows works as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flow.program.serving import CONFIG, served
from tests.installed import ROOT, environment_without

README = (ROOT / "packages" / "client" / "README.md").read_text()
SERVERS = ("outlast", "outlast_demo", "outlast_sandbox", "fastapi", "pydantic", "sqlalchemy")


EXAMPLES = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    config = tmp_path / "outlast.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "data"))
    with served(config) as address:
        yield address


def test_the_examples_of_its_readme_run_where_the_server_is_not_installed(address: str, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    environment = environment_without(tmp_path / "site", *SERVERS)

    def python(program: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-S", "-c", program.replace("http://127.0.0.1:8400", address)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)

    for name in SERVERS:
        assert "ModuleNotFoundError" in python(f"import {name}").stderr
    follow, list_projects = EXAMPLES
    followed = python(follow)
    assert followed.stdout.startswith("Hello."), followed.stderr
    assert followed.stdout.endswith("\ncompleted\n")
    listed = python(list_projects)
    assert listed.stdout.startswith("not_found\n["), listed.stderr

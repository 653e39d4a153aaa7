"""The package outlast-sandbox without the server: what its README shows works as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installed import ROOT, environment_without

README = (ROOT / "packages" / "sandbox" / "README.md").read_text()
pytestmark = pytest.mark.sandbox


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_the_example_of_its_readme_runs_where_outlast_is_not_installed(tmp_path: Path) -> None:
    environment = environment_without(tmp_path, "outlast", "outlast_demo")
    command = [sys.executable, "-S", "-c"]
    absent = subprocess.run([*command, "import outlast"], env=environment, capture_output=True, check=False)
    assert absent.returncode != 0
    done = subprocess.run(
        [*command, block("python")], env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.stdout == block("text"), done.stderr
    assert len(block("python").splitlines()) <= 30

"""`make bench` runs: each workload measures what it says, in its short form."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench.workloads import ALL

ROOT = Path(__file__).resolve().parents[3]
SHORT = ("W1", "checkpoint")  # one beside a server, one on parts of it in the benchmark's own process


@pytest.mark.parametrize(
    "name", [pytest.param(one.name, marks=() if one.name in SHORT else pytest.mark.deep) for one in ALL]
)
def test_a_workload_prints_its_figures(name: str) -> None:
    command = [sys.executable, "-m", "bench", name, "--quick", "--only", "outlast"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1), done.stderr[-2000:]
    assert "Outlast" in done.stdout.splitlines()[0]

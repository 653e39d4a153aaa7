"""A server in an environment where the demo is not installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import pytest

from outlast.kernel.cli.exits import Exit
from tests.installed import environment_without


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return environment_without(tmp_path_factory.mktemp("installed"), "outlast_demo")


@pytest.fixture
def server(environment: Mapping[str, str], tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server with its default configuration: its address, and what it writes."""
    log = tmp_path / "server.log"
    command = [sys.executable, "-S", "-m", "outlast", "serve", "--port", "0", "--data-dir", str(tmp_path / "data")]
    with log.open("wb") as out, subprocess.Popen(command, env=environment, stdout=out, stderr=out) as process:
        try:
            address = ""
            while not address and process.poll() is None:
                lines = log.read_text().splitlines()
                address = next((line.split()[-1] for line in lines if "is ready" in line), "")
            assert address, log.read_text()
            yield address, log
        finally:
            process.terminate()


def test_a_server_without_models_starts_and_says_how_to_connect_one(server: tuple[str, Path]) -> None:
    address, log = server
    with httpx.Client(base_url=address, timeout=30) as client:
        assert client.get("/v1/models").json()["items"] == []
        project = client.get("/v1/projects").json()["items"][0]["id"]
        body = {"project_id": project, "content": "Hello"}
        refused = client.post("/v1/runs", json=body, headers={"idempotency-key": "one"})
    assert "No model is connected" in log.read_text()
    assert refused.status_code == 422, refused.text
    assert refused.json()["code"] == "unknown_model"
    assert "/docs/guides/connect-a-model/" in refused.json()["hint"]


def test_doctor_says_how_to_connect_a_model(environment: Mapping[str, str], tmp_path: Path) -> None:
    command = [sys.executable, "-S", "-m", "outlast", "doctor", "--data-dir", str(tmp_path / "data")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == Exit.FAILED
    assert "outlast-demo is not installed" in done.stdout
    assert "/docs/guides/connect-a-model/" in done.stdout

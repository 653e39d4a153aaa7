"""OpenCode, unmodified, as an agent of Outlast: against the scripted model, in a real sandbox, with a real page.

Deep: the first run installs it from npm into the cache of snapshots (370 MB, 15 s), and is skipped where that fails.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import QUICK, WEB, OpenPage, Server, _free_port
from tests.browser.pages import wait_until
from tests.forked import Forked

pytestmark = [pytest.mark.browser, pytest.mark.deep, pytest.mark.timeout(900)]
KEY = "sk-of-the-model-1234567890"
WAIT_MS = 90_000
SANDBOX = """
[sandbox]
memory_mb = 2048
disk_mb = 2048
setup = ["cd ~ && npm install --no-audit --no-fund opencode-ai@1.18.33 && opencode --version"]

[[sandbox.dependencies]]
secret_env = "MODEL_KEY"
allow_private = ["localhost:{port}"]
"""
CODER = """
import json
import os

from outlast import acp_agent

OWN = {
    "npm": "@ai-sdk/openai-compatible",
    "options": {"baseURL": os.environ["MODEL_URL"], "apiKey": "{env:MODEL_KEY}"},
    "models": {"coder": {"limit": {"context": 100000, "output": 8000}}},
}
SETTINGS = {
    "model": "own/coder",
    "small_model": "own/coder",
    "enabled_providers": ["own"],
    "provider": {"own": OWN},
    "permission": {"edit": "ask", "bash": "ask"},
    "autoupdate": False,
    "share": "disabled",
}
ENV = {"OPENCODE_CONFIG_CONTENT": json.dumps(SETTINGS), "OPENCODE_DISABLE_MODELS_FETCH": "1"}
coder = acp_agent("coder", "opencode acp", title="OpenCode", icon="🤖", env=ENV)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    port, folder = _free_port(), tmp_path_factory.mktemp("opencode")
    model = Forked(["--port", str(port)], folder / "model.log", module="outlast.testing.model_server")
    names = {"MODEL_KEY": KEY, "MODEL_URL": f"http://localhost:{port}/v1"}
    configuration = SANDBOX.format(port=port) + QUICK.replace("[sandbox]\n", "")
    running = Server(folder, names, configuration)
    (folder / "agents").mkdir()
    (folder / "agents" / "coder.py").write_text(CODER)
    (folder / "outlast.toml").write_text(configuration)
    words = [sys.executable, "-m", "outlast", "snapshots", "build", "--config", str(folder / "outlast.toml")]
    words += ["--data-dir", str(folder / "data")]
    built = subprocess.run(words, env={**os.environ, **names}, capture_output=True, text=True, check=False)
    if built.returncode:
        pytest.skip(f"OpenCode could not be installed from npm: {(built.stdout + built.stderr)[-400:]}")
    running.start()
    yield running
    running.end()
    model.kill()


def call(tool: str, call_id: str, **arguments: Any) -> dict[str, Any]:
    return {"name": tool, "id": call_id, "arguments": arguments}


def send(page: Page, text: str, turns: list[dict[str, Any]]) -> None:
    page.get_by_label("Message", exact=True).fill(f"{text} [[model {json.dumps(turns)}]]")
    page.get_by_label("Message", exact=True).press("Enter")


def approve(page: Page, tool: str) -> None:
    asked = page.get_by_role("region", name=f"Approval for {tool}")
    asked.get_by_role("button", name="Approve", exact=True).click(timeout=WAIT_MS)


def file(server: Server, name: str) -> str:
    found = list(server.folder.glob(f"data/workspaces/*/{name}"))
    return found[0].read_text() if found else ""


def test_it_writes_a_file_asks_in_the_page_outlasts_two_kills_and_is_cancelled(
    open_page: OpenPage, server: Server
) -> None:
    script = "echo $MODEL_KEY > key.txt; echo began >> ran.txt; sleep 25; echo ended >> ran.txt"
    turns: list[dict[str, Any]] = [
        {"text": "I write.", "calls": [call("write", "c1", filePath="/workspace/note.txt", content="kept\n")]},
        {"text": "I run.", "calls": [call("bash", "c2", command=script, description="Runs")]},
        {"text": "All is done."},
    ]
    page = open_page("/", viewport={"width": 1280, "height": 900})
    page.get_by_role("button", name="Agent: Chat").click()
    page.get_by_role("menuitem").filter(has_text="OpenCode").click()
    send(page, "Write and run it", turns)

    expect(page.get_by_role("region", name="Approval for edit")).to_be_visible(timeout=WAIT_MS)
    assert file(server, "note.txt") == ""
    server.kill()
    server.start()
    approve(page, "edit")
    approve(page, "execute")
    assert file(server, "note.txt") == "kept\n"
    wait_until(page, lambda: file(server, "ran.txt") == "began\n")
    server.kill()
    server.start()
    answer = page.get_by_role("article", name="Answer").first
    expect(answer).to_have_attribute("data-status", "complete", timeout=WAIT_MS)
    expect(answer).to_contain_text("All is done.")
    assert file(server, "ran.txt") == "began\nended\n", "neither kill repeated it"
    assert file(server, "key.txt").startswith("SECRET_PLACEHOLDER_")

    run: dict[str, Any] = {
        "text": "Long.",
        "calls": [call("bash", "c3", command="echo long > long.txt; sleep 900", description="W")],
    }
    send(page, "Now a long one", [run, {"text": "Never said."}])
    approve(page, "execute")
    wait_until(page, lambda: file(server, "long.txt") == "long\n")
    page.get_by_role("button", name="Stop the answer").click()
    expect(page.get_by_role("article", name="Answer").nth(1)).to_have_attribute("data-status", "cancelled")
    expect(page.get_by_role("article", name="Answer").nth(1)).not_to_contain_text("Never said.")

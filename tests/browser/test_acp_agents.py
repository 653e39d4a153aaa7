"""An agent that speaks the Agent Client Protocol, as a person sees it: its permission is asked and answered in the
page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import QUICK, WEB, OpenPage, Server

pytestmark = pytest.mark.browser
SCRIPT = Path(__file__).parents[1] / "acp_script.py"
CODER = """
import shlex
from pathlib import Path

from outlast import acp_agent

SCRIPT = Path(__file__).parents[1] / "acp_script.txt"
coder = acp_agent("coder", shlex.join(["python3", "-u", "-c", SCRIPT.read_text()]), title="Coder", icon="🤖")
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    running = Server(tmp_path_factory.mktemp("acp"), configuration=QUICK)
    (running.folder / "agents").mkdir()
    (running.folder / "agents" / "coder.py").write_text(CODER)
    (running.folder / "acp_script.txt").write_text(SCRIPT.read_text())
    running.start()
    yield running
    running.end()


def test_its_permission_is_answered_in_the_page_and_its_work_shown_there(open_page: OpenPage, server: Server) -> None:
    page = open_page("/", viewport={"width": 1280, "height": 900})
    page.get_by_role("button", name="Agent: Chat").click()
    page.get_by_role("menuitem").filter(has_text="Coder").click()
    page.get_by_label("Message", exact=True).fill("Please write it")
    page.get_by_label("Message", exact=True).press("Enter")

    asked = page.get_by_role("region", name="Approval for edit")
    expect(asked).to_contain_text("The agent asks: Write note.txt")
    expect(asked).to_contain_text("Text of note.txt")
    asked.get_by_role("button", name="Approve", exact=True).click()
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_have_attribute("data-status", "complete")
    expect(answer).to_contain_text("On it.")
    expect(answer).to_contain_text("Written.")
    (written,) = server.folder.glob("data/workspaces/*/note.txt")
    assert written.read_text() == "Text of note.txt\n"

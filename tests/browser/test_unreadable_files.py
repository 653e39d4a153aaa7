"""A thread whose stored files are gone for good: its conversation says so, and an editor goes on with an empty
workspace."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import QUICK, WEB, OpenPage, Server
from tests.browser.pages import saved, say, start_thread

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    running = Server(tmp_path_factory.mktemp("unreadable"), configuration=QUICK)
    running.start()
    yield running
    running.end()


def lose_files(server: Server, thread: str) -> None:
    """As after a disk that was replaced and no backup: the workspace's folder and all stored files are gone."""
    workspace = server.get(f"/v1/threads/{thread}/checkpoints")["items"][0]["workspace_id"]
    for project in server.get("/v1/projects")["items"]:
        for sandbox in server.get(f"/v1/projects/{project['id']}/sandboxes")["items"]:
            server.post(f"/v1/sandboxes/{sandbox['id']}/kill", {})
    server.stop()
    shutil.rmtree(server.folder / "data" / "workspaces" / workspace)
    for blob in (server.folder / "data" / "blobs").glob("??/*"):
        blob.unlink()
    server.start()


def told(page: Page) -> Locator:
    return page.get_by_role("region", name="Files cannot be restored")


def test_a_thread_whose_files_are_gone_says_so_and_goes_on_with_an_empty_workspace(
    open_page: OpenPage, server: Server
) -> None:
    """Each tool call failed with words for programs, and no button led out of it."""
    page = open_page()
    thread = start_thread(page, "Write a program about primes")
    expect(saved(page)).to_be_visible(timeout=90_000)
    lose_files(server, thread)
    page.reload()
    say(page, "Write a program about fibonacci")
    expect(told(page)).to_have_count(1, timeout=90_000)
    expect(told(page)).to_contain_text("The files of this thread cannot be restored")
    assert "/v1/" not in told(page).inner_text()

    phone = open_page(f"/threads/{thread}", **PHONE)
    way_out = told(phone).get_by_role("button", name="Start with an empty workspace")
    expect(way_out).to_be_in_viewport()
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    way_out.tap()
    question = phone.get_by_role("alertdialog")
    expect(question).to_contain_text("The agent loses the files")
    question.get_by_role("button", name="Cancel").tap()
    expect(told(phone)).to_be_visible()

    told(page).get_by_role("button", name="Start with an empty workspace").focus()
    page.keyboard.press("Enter")
    page.get_by_role("alertdialog").get_by_role("button", name="Start again").focus()
    page.keyboard.press("Enter")
    expect(told(page)).to_have_count(0)
    expect(told(phone)).to_have_count(0)
    newest = server.get(f"/v1/threads/{thread}/checkpoints")["items"][0]
    assert newest["files"] == 0

    say(page, "Write a program about fibonacci")
    expect(page.locator("article[aria-label=Answer][data-status=complete]")).to_have_count(3, timeout=90_000)
    expect(saved(page).locator("[data-tool-status=done]").first).to_be_visible()
    page.reload()
    expect(page.get_by_text("This thread restarted with an empty workspace.")).to_be_visible()
    expect(told(page)).to_have_count(0)

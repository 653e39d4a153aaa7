"""Several people on one page, of a server without sandboxes: who may act, who reads along, what is missing is said."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WEB, OpenPage, Server
from tests.browser.live_pages import FORM, changes, make_page, open_page_view, panel
from tests.browser.test_sharing import invite, join

pytestmark = pytest.mark.browser

# No sandboxes, and a model that nobody asks.
CONFIG = """
default_model = "demo"

[providers.demo]
kind = "demo"

[[models]]
id = "demo"
provider = "demo"
name = "demo"

[sandbox]
provider = "none"
"""


class Shared(Server):
    """Others could reach it, so everybody signs in; its page was made before."""

    page: dict[str, Any]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    folder = tmp_path_factory.mktemp("people")
    config = folder / "outlast.toml"
    config.write_text(CONFIG)
    running = Shared(folder)
    running.start("--config", str(config))
    running.token = running.post("/v1/tokens", {"name": "owner"})["token"]
    running.page = make_page(running, FORM, project=running.get("/v1/me")["default_project_id"])
    running.stop()
    running.start("--config", str(config), "--host", "0.0.0.0")
    yield running
    running.stop()


def sign_in(page: Page, server: Shared) -> None:
    page.get_by_label("Token").fill(server.token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="My project")).to_be_visible()


def test_a_viewer_reads_along_and_can_do_nothing(open_page: OpenPage, server: Shared) -> None:
    owner = open_page()
    sign_in(owner, server)
    viewer = open_page(invite(owner, "viewer"))
    join(viewer, "Vera")
    sent = changes(viewer)
    shown = open_page_view(viewer, server.page)
    open_page_view(owner, server.page)
    expect(viewer.get_by_text("You are a viewer")).to_be_visible()
    expect(viewer.get_by_role("button", name="Share", exact=True)).to_have_count(0)
    shown.get_by_role("button", name="More").click()
    expect(shown.get_by_role("button", name="More")).not_to_have_attribute("aria-busy", "true")
    viewer.keyboard.press("Control+z")
    expect(shown.locator("#count")).to_have_text("0")
    assert sent == []
    expect(owner.get_by_label("Vera is watching")).to_be_visible()


def test_it_is_said_plainly_that_code_cannot_run_here(open_page: OpenPage, server: Shared) -> None:
    owner = open_page()
    sign_in(owner, server)
    open_page_view(owner, server.page)
    expect(panel(owner, "Code").get_by_role("note")).to_contain_text("This server has no sandbox")


def test_another_members_lock_keeps_the_page_read_only_with_a_way_out(open_page: OpenPage, server: Shared) -> None:
    owner = open_page()
    sign_in(owner, server)
    bob = open_page(invite(owner))
    join(bob, "Bob")
    for page in (owner, bob):
        open_page_view(page, server.page)
    bob.evaluate(
        "id => fetch(`/v1/threads/${id}/lock`, "
        "{ method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{}' })",
        server.page["thread_id"],
    )
    banner = owner.locator("[data-lock-banner]")
    expect(banner).to_contain_text("Locked by Bob")
    expect(banner.get_by_role("button", name="Fork thread")).to_be_visible()
    sent = changes(owner)
    shown = owner.frame_locator("[data-page-frame]")
    shown.get_by_role("button", name="More").click()
    expect(shown.get_by_role("button", name="More")).not_to_have_attribute("aria-busy", "true")
    assert sent == []

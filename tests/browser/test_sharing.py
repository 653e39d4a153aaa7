"""Several people in one project: sign-in, invitation, who drives, who watches."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WEB, OpenPage, Server
from tests.browser.pages import saved, start_thread

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that other machines could reach, so everybody signs in. Its first token is made in local mode."""
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    running = Server(tmp_path_factory.mktemp("shared"))
    running.start()
    running.token = running.post("/v1/tokens", {"name": "owner"})["token"]
    running.stop()
    running.start("--host", "0.0.0.0")
    yield running
    running.stop()


def sign_in(page: Page, token: str) -> None:
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_label("Message", exact=True)).to_be_visible()


def invite(page: Page, role: str = "editor") -> str:
    """Make an invitation in the members dialog; its link."""
    page.get_by_role("button", name="My project").click()
    page.get_by_role("menuitem", name="Members and invitations").click()
    page.get_by_label("Role of the new member").select_option(role)
    page.get_by_role("button", name="Create link").click()
    link = page.locator("code", has_text="/join#").inner_text()
    page.keyboard.press("Escape")
    return link


def join(page: Page, name: str) -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Join the project").click()
    page.get_by_role("button", name="Open the project").click()
    expect(page.locator("[data-thread-link]").first).to_be_visible()


def test_a_wrong_token_is_refused_and_the_right_one_lets_in(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.get_by_label("Token").fill("ol_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("unknown, expired or revoked")
    sign_in(page, server.token)
    page.reload()
    expect(page.get_by_label("Message", exact=True)).to_be_visible()


def test_one_person_drives_another_watches_asks_and_takes_the_wheel(open_page: OpenPage, server: Server) -> None:
    owner = open_page()
    sign_in(owner, server.token)
    thread = start_thread(owner, "Hello there")
    expect(saved(owner)).to_be_visible()
    bob = open_page(invite(owner))
    join(bob, "Bob")

    bob.goto(f"/threads/{thread}")
    expect(bob.locator("[data-lock-banner]")).to_contain_text("Locked by Owner")
    expect(bob.get_by_label("Message", exact=True)).to_have_count(0)
    expect(owner.get_by_text("Bob is watching")).to_be_visible()

    bob.get_by_role("button", name="Request hand-over").click()
    expect(bob.get_by_role("button", name="Hand-over requested")).to_be_disabled()
    owner.get_by_role("button", name="Hand over").click()
    expect(owner.locator("[data-lock-banner]")).to_contain_text("Locked by Bob")

    bob.get_by_label("Message", exact=True).press_sequentially("I drive")
    expect(owner.get_by_text("Bob is writing…")).to_be_visible()
    bob.get_by_label("Locked by you").click()
    bob.get_by_role("menuitem", name="Release the lock").click()
    expect(owner.get_by_label("Message", exact=True)).to_be_visible()


def test_a_viewer_reads_and_follows_but_writes_nothing(open_page: OpenPage, server: Server) -> None:
    owner = open_page()
    sign_in(owner, server.token)
    thread = start_thread(owner, "Clean up")
    eve = open_page(invite(owner, "viewer"))
    join(eve, "Eve")
    eve.goto(f"/threads/{thread}")
    expect(eve.locator("[data-approval]")).to_contain_text("rm -rf build")
    expect(eve.get_by_role("button", name="Approve")).to_have_count(0)
    expect(eve.get_by_text("You are a viewer")).to_be_visible()

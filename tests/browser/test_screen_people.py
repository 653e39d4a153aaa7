"""A screen that several people talk about, and credits that run out."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import saved, say
from tests.browser.studio import Studio, building, chat, closing, open_studio
from tests.browser.test_sharing import invite, join

pytestmark = pytest.mark.browser


@contextmanager
def shared(folder: Path) -> Iterator[Studio]:
    """A studio that other machines could reach, so everybody signs in. Its first token is made in local mode."""
    with open_studio(folder) as studio:
        studio.token = studio.post("/v1/tokens", {"name": "owner"})["token"]
        studio.stop()
        studio.start("--host", "0.0.0.0")
        yield studio


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with shared(tmp_path_factory.mktemp("people")) as studio:
        yield studio


def sign_in(page: Page, token: str) -> None:
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="My project")).to_be_visible()


def ask_for_a_screen(page: Page, server: Studio, words: str) -> str:
    """Make a screen on the empty canvas and have it built; its address."""
    server.script(*building())
    page.get_by_role("link", name="Canvas").click()
    say(page, words)
    expect(saved(page)).to_be_visible()
    return page.url


def test_one_person_drives_another_reads_asks_for_the_wheel_or_forks(open_page: OpenPage, server: Studio) -> None:
    owner = open_page()
    sign_in(owner, server.token)
    link = invite(owner)
    screen = ask_for_a_screen(owner, server, "A pricing page")
    bob = open_page(link)
    join(bob, "Bob")
    bob.goto(screen)
    banner = chat(bob).locator("[data-lock-banner]")
    expect(banner).to_contain_text("Locked by Owner")
    expect(saved(bob).get_by_role("heading", name="What I built")).to_be_visible()
    expect(bob.get_by_label("Message", exact=True)).to_have_count(0)
    expect(chat(bob).get_by_role("list", name="Suggestions")).to_have_count(0)
    expect(chat(owner).get_by_label("Bob is watching")).to_be_visible()

    banner.get_by_role("button", name="Request hand-over").click()
    asked = chat(owner).get_by_role("region", name="Bob asks to drive this thread")
    asked.get_by_role("button", name="Hand over").click()
    expect(chat(owner).locator("[data-lock-banner]")).to_contain_text("Locked by Bob")
    server.script(closing("Bob's page", "Bob was **here**."))
    say(bob, "Say that Bob was here")
    expect(saved(owner)).to_contain_text("Bob was here")

    chat(owner).get_by_role("button", name="Fork thread").click()
    owner.wait_for_url(lambda url: "/screens/" in url and url != screen)
    expect(saved(owner)).to_contain_text("Bob was here")
    expect(owner.get_by_label("Message", exact=True)).to_be_visible()

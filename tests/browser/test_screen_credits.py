"""Credits of those who build screens: seen, warned of, and explained where they are short."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import saved
from tests.browser.studio import Studio, building, chat, open_studio

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with open_studio(tmp_path_factory.mktemp("credits"), plan=6) as studio:
        yield studio


def test_what_is_short_is_explained_before_and_after_sending(open_page: OpenPage, server: Studio) -> None:
    failed = server.screen()
    server.script({"text": "No", "fault": "bad_key"})
    server.run(failed, "A dashboard", model="router/opus")
    page = open_page(f"/screens/{failed['id']}")
    balance = page.get_by_role("button", name="Credits: 6")
    expect(balance).to_be_visible()
    expect(page.locator("[data-end=error]")).to_be_visible()

    server.script(*building())
    server.run(server.screen(), "A pricing page", model="router/gpt")  # in another window: 2 of 6
    page.locator("[data-end=error]").get_by_role("button", name="Retry").click()
    refused = page.locator("[data-refused=credits]")
    expect(refused).to_contain_text("This run costs 5 credits; you have 4 left this month.")
    expect(refused.locator("[data-shortage]")).to_contain_text("Credits reset on")

    page.reload()
    page.get_by_role("button", name="Credits: 4, running low").click()
    details = page.get_by_role("dialog", name="Credits")
    expect(details).to_contain_text("of 6 per month")
    expect(details).to_contain_text("studio")
    expect(details).to_contain_text("Choose a cheaper model")
    expect(details.get_by_role("list", name="Last entries")).to_contain_text("Monthly credits")
    page.keyboard.press("Escape")

    page.get_by_role("button", name="Model: Grok 4.1 Fast").click()
    page.locator('[data-model="router/opus"]').click()
    page.get_by_label("Message", exact=True).fill("A pricing page")
    note = page.locator("[data-note=hard]")
    expect(note).to_contain_text("costs 5 credits; you have 4 credits left this month")
    expect(page.get_by_role("button", name="Send")).to_be_disabled()
    note.get_by_role("button", name="Use Grok 4.1 Fast (1 credit)").click()
    server.script(*building())
    page.get_by_role("button", name="Send").click()
    expect(saved(page)).to_be_visible()
    expect(page.get_by_role("button", name="Credits: 3, running low")).to_be_visible()
    expect(chat(page).locator("[data-note=soft]")).to_contain_text("3 credits left")

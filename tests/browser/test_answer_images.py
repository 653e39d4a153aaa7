"""Agents of the examples in the web app: an image of a tool stands with its call, and a withdrawn text disappears."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import saved
from tests.browser.studio import EXAMPLE_AGENTS, Studio, calling, open_studio

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with open_studio(tmp_path_factory.mktemp("charts"), more=EXAMPLE_AGENTS) as studio:
        yield studio


def test_an_image_of_a_tool_stands_with_its_call_and_opens_by_keyboard(open_page: OpenPage, server: Studio) -> None:
    page = open_page("/")
    page.get_by_role("button", name="Agent: Chat").click()
    page.locator("[data-agent=charts]").click()
    server.script(calling("price_chart", order_ids=["B-17", "B-18"]), {"text": "B-17 costs much more."})
    page.get_by_label("Message", exact=True).fill("Draw B-17 and B-18.")
    page.get_by_role("button", name="Send").click()
    expect(saved(page)).to_contain_text("B-17 costs much more.")
    for again in (False, True):
        if again:
            page.reload()
        card = saved(page).locator("[data-tool=price_chart]")
        thumbnail = card.get_by_role("button", name="Enlarge: Prices of B-17, B-18")
        expect(thumbnail.locator("img")).to_be_visible()
        box = thumbnail.locator("img").bounding_box()
        assert box is not None
        assert box["width"] > box["height"] > 80, "the picture keeps its shape"
        thumbnail.focus()
        page.keyboard.press("Enter")
        picture = page.get_by_role("dialog", name="Prices of B-17, B-18").get_by_role("img")
        expect(picture).to_be_visible()
        assert picture.evaluate("picture => picture.complete && picture.naturalWidth") == 120
        page.keyboard.press("Escape")
        expect(picture).to_be_hidden()


def test_a_text_that_does_not_pass_its_check_disappears_and_the_next_one_is_kept(
    open_page: OpenPage, server: Studio
) -> None:
    page = open_page("/")
    page.get_by_role("button", name="Agent: Chat").click()
    page.locator("[data-agent=careful-desk]").click()
    server.script({"text": "We promise it comes on Monday."}, {"text": "It is on its way."})
    page.get_by_label("Message", exact=True).fill("When does B-18 arrive?")
    page.get_by_role("button", name="Send").click()
    expect(saved(page)).to_contain_text("It is on its way.")
    expect(page.get_by_text("We promise it comes")).to_have_count(0)
    page.reload()
    expect(saved(page)).to_contain_text("It is on its way.")
    expect(page.get_by_text("We promise it comes")).to_have_count(0)

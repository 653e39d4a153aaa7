"""What the first page costs on the wire."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage, Server

pytestmark = pytest.mark.browser

MAX_BYTES = 260_000


def test_the_first_page_is_small_on_the_wire(open_page: OpenPage) -> None:
    # Scripts and styles went out uncompressed: 922 kB for a page with one text box.
    page = open_page("/sign-in")
    page.goto("about:blank")
    network = page.context.new_cdp_session(page)
    received: list[int] = []
    network.on("Network.loadingFinished", lambda event: received.append(int(event["encodedDataLength"])))
    network.send("Network.enable")
    network.send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.goto("/")
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    page.wait_for_load_state("load")
    print(f"first page: {sum(received):,} bytes in {len(received)} answers")
    assert sum(received) <= MAX_BYTES


def test_a_browser_that_remembers_a_project_of_another_server_opens_this_ones_own(
    open_page: OpenPage, server: Server
) -> None:
    # It stayed at the other project's address: no agents, and an error that nobody had asked for.
    page = open_page("/sign-in")
    page.evaluate("localStorage.setItem('outlast.project', 'prj_01m7k3v9q2w8e5t4r6y1z0abcd')")
    page.goto("/")
    expect(page).to_have_url(re.compile(server.get("/v1/me")["default_project_id"]))
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    expect(page.get_by_text("There is no such project")).to_have_count(0)

"""An agent uses a web page in a real browser: people decide about the site, and see a picture of every step."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import expect

from outlast_sandbox.browser.chromium import find_browser
from tests.browser.conftest import OpenPage
from tests.browser.pages import saved
from tests.browser.studio import Studio, calling, open_studio

pytestmark = [
    pytest.mark.browser,
    pytest.mark.sandbox,
    pytest.mark.skipif(find_browser() is None, reason="no Chromium: apt install chromium"),
]
SHOP = """<title>Bicycle shop</title><body style="font: 20px sans-serif; background: #eef4ff; padding: 40px">
<h1>{words}</h1><form action="/found"><input name="q" aria-label="Search"> <button>Find</button></form>"""
SETTINGS = """
[web]
browser = true
allow_private = ["{host}"]
"""


class _Shop(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        words = f"Found: {self.path.partition('=')[2]}" if self.path.startswith("/found") else "All bicycles"
        body = SHOP.format(words=words).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Shop) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, shop: str) -> Iterator[Studio]:
    more = SETTINGS.format(host=shop.removeprefix("http://"))
    with open_studio(tmp_path_factory.mktemp("browser"), more=more) as studio:
        yield studio


def test_people_let_an_agent_use_a_site_and_see_a_picture_of_each_step(
    open_page: OpenPage, server: Studio, shop: str
) -> None:
    page = open_page("/")
    server.script(
        calling("browser_open", "I open the shop.", url=f"{shop}/"),
        calling("browser_permission", "I search for a red bicycle there.", site=shop),
        {"text": "", "calls": [{"name": "browser_type", "arguments": {"element": 1, "text": "red", "submit": True}}]},
        {"text": "The shop has a red bicycle."},
    )
    page.get_by_label("Message", exact=True).fill("Does the shop have a red bicycle?")
    page.get_by_role("button", name="Send").click()
    card = page.get_by_role("group", name="Approval for browser_permission").or_(page.locator("[data-approval]"))
    expect(card).to_contain_text("The agent wants to click and type on this site")
    expect(card).to_contain_text(shop)
    card.get_by_role("button", name="Approve").click()
    expect(saved(page)).to_contain_text("The shop has a red bicycle.")
    for again in (False, True):
        if again:
            page.reload()
        for tool in ("browser_open", "browser_type"):
            picture = saved(page).locator(f"[data-tool={tool}] [data-picture] img")
            expect(picture).to_be_visible()
            expect(picture).to_have_attribute("alt", "Bicycle shop")
            assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1280
    results = "".join(str(request) for request in server.asked())
    assert "Found: red" in results
    assert "[1] textbox" in results

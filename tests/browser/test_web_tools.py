"""An agent that searches the web and reads a page: the pages it used are links under its calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import saved
from tests.browser.studio import Studio, calling, open_studio

pytestmark = pytest.mark.browser
TERMS = b"<html><body><h1>Terms of the bicycle shop</h1><p>30 days.</p></body></html>"
SETTINGS = """
[web]
fetch = true
search = "searxng"
url = "{base}"
allow_private = ["{host}"]
"""


class _Web(BaseHTTPRequestHandler):
    """A search service and the page that it finds."""

    def do_GET(self) -> None:
        if self.path.startswith("/search"):
            found = {"title": "Terms of the bicycle shop", "url": f"{_base(self.server)}/terms", "content": "Returns"}
            kind, body = "application/json", json.dumps({"results": [found]}).encode()
        else:
            kind, body = "text/html", TERMS
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _base(server: object) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}"  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Web) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield _base(server)
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, web: str) -> Iterator[Studio]:
    more = SETTINGS.format(base=web, host=web.removeprefix("http://"))
    with open_studio(tmp_path_factory.mktemp("web"), more=more) as studio:
        yield studio


def test_the_pages_that_an_agent_found_and_read_are_links_under_its_calls(
    open_page: OpenPage, server: Studio, web: str
) -> None:
    page = open_page("/")
    server.script(
        calling("web_search", query="returns bicycle shop"),
        calling("web_fetch", url=f"{web}/terms"),
        {"text": "You may return it within 30 days."},
    )
    page.get_by_label("Message", exact=True).fill("How long may I return a bicycle?")
    page.get_by_role("button", name="Send").click()
    expect(saved(page)).to_contain_text("within 30 days")
    for again in (False, True):
        if again:
            page.reload()
        for tool in ("web_search", "web_fetch"):
            link = saved(page).locator(f"[data-tool={tool}]").get_by_role("link", name="Terms of the bicycle shop")
            expect(link).to_be_visible()
            assert link.get_attribute("href") == f"{web}/terms"
            assert "noopener" in (link.get_attribute("rel") or "")

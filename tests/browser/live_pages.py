"""Pages in tests: what an agent writes, what a person does and sees."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from playwright.sync_api import Frame, FrameLocator, Locator, Page, Request, expect

from outlast.kernel.models.turn_calls import split_words
from tests.browser.conftest import Server
from tests.browser.studio import Answer

FORM: Final = (
    '<h1 id="title">Shopping</h1><p>Bought: <b id="count">0</b></p>'
    '<form id="add" data-action="add"><input id="item" name="item"><button type="submit">Add</button></form>'
    '<button id="more" data-action="more" data-by="2">More</button><ul id="list"></ul>'
)


def line(kind: str, **rest: Any) -> str:
    return json.dumps({"type": kind, **rest}) + "\n"


def patches(*found: dict[str, Any]) -> str:
    return line("patches", patches=list(found))


def text(element_id: str, words: str) -> dict[str, Any]:
    return {"op": "text", "at": f"#{element_id}", "text": words}


def full(html: str, title: str = "") -> str:
    return line("full", html=html, **({"title": title} if title else {}))


def summary(words: str) -> str:
    return line("summary", text=words)


def answering(*lines: str) -> Answer:
    return {"text": "".join(lines)}


def stalling(first: str, rest: str = "") -> Answer:
    """Writes `first`, and then hangs in the middle of `rest` until the run is stopped."""
    rest = rest or summary("never comes to this")
    return {"text": first + rest, "fault": "stall_mid", "after": len(list(split_words(first))) + 1}


def make_page(server: Server, html: str = "", title: str = "A page", project: str = "") -> dict[str, Any]:
    home = project or str(server.post("/v1/projects", {"name": title})["id"])
    made: dict[str, Any] = server.post(f"/v1/projects/{home}/pages", {"title": title, "html": html})
    return made


def open_page_view(page: Page, made: dict[str, Any]) -> FrameLocator:
    """Its view, once the frame shows the page; the document in the frame."""
    page.goto(f"/pages/{made['id']}")
    expect(page.locator("[data-page-frame][data-shown]")).to_be_visible()
    return inside(page)


def inside(page: Page) -> FrameLocator:
    return page.frame_locator("[data-page-frame]")


def frame_of(page: Page) -> Frame:
    """The same document, to run scripts in it as a hostile page would."""
    (found,) = [frame for frame in page.frames if ".pages." in frame.url]
    return found


def ask(page: Page, words: str) -> None:
    box = page.get_by_label("Message", exact=True)
    box.fill(words)
    box.press("Enter")


def state(page: Page) -> Locator:
    return page.locator("[data-page-state]")


def panel(page: Page, name: str) -> Locator:
    """Activity, History or Code, opened."""
    page.get_by_role("tablist", name="Page panel").get_by_role("tab", name=name).click()
    return page.get_by_role("tabpanel", name=name)


def changes(page: Page) -> list[str]:
    """The addresses of all requests that may change something, from now on."""
    sent: list[str] = []

    def note(request: Request) -> None:
        if request.method != "GET":
            sent.append(request.url)

    page.on("request", note)
    return sent


def told(requests: list[dict[str, Any]]) -> str:
    """The last thing that the model was asked."""
    return json.dumps(requests[-1]["messages"][-1]["content"], ensure_ascii=False)


@contextmanager
def another_site(html: str) -> Iterator[str]:
    """A web site that knows nothing of us and shows this HTML; its address. On loopback, as browsers let no site of the
    internet show what lies there."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://localhost:{site.server_port}/"
        site.shutdown()

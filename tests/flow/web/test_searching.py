"""The adapters of search services, each against a server that answers as its published reference says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from outlast.apps.web.search.open_service import open_service
from outlast.apps.web.search.service import SearchFailed, SearchService, WebResult
from outlast.apps.web.settings import WebSettings
from outlast.base.clock import SystemClock
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.providers.connections import Connections
from tests.search_services import KEY, SearchServices, search_services

KINDS = ["searxng", "brave", "tavily"]
RESULTS = [
    WebResult("Outlast", "https://outlast.example/", "Runs that outlast a crash & more."),
    WebResult("Durable runs", "https://blog.example/durable?a=1&b=2", "What makes a run durable."),
]


@asynccontextmanager
async def opened(kind: Any, key: str = KEY, **more: Any) -> AsyncIterator[tuple[SearchService, SearchServices]]:
    async with search_services() as services:
        settings = WebSettings(search=kind, url=f"{services.base}/{kind}/", **more)
        connections = Connections()
        try:
            yield open_service(settings, connections, SystemClock(), ApiKey(key)), services
        finally:
            await connections.aclose()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_search_gives_titles_addresses_and_plain_excerpts(kind: str) -> None:
    async with opened(kind) as (service, services):
        assert await service.search("durable runs", 6) == RESULTS
        assert await service.search("durable runs", 1) == RESULTS[:1]
        services.found = []
        assert await service.search("nothing", 6) == []
        assert services.asked == ["durable runs", "durable runs", "nothing"]


@pytest.mark.parametrize("kind", KINDS)
async def test_results_without_a_web_address_are_left_out_and_long_texts_are_cut(kind: str) -> None:
    async with opened(kind) as (service, services):
        address = "https://long.example/"
        services.found = [
            {"title": "Script", "url": "javascript:alert(1)", "text": ""},
            {"title": "Endless", "url": f"https://x.example/{'x' * 3000}", "text": ""},
            {"title": "T" * 500, "url": address, "text": "word " * 5000},
            {"title": "Again", "url": address, "text": ""},
        ]
        (found,) = await service.search("long", 6)
        assert (found.url, len(found.title)) == (address, 200)
        assert len(found.excerpt) <= 800


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda: web.Response(status=429, headers={"Retry-After": "7"}), r"\(429\). Try again in 7 s"),
        (lambda: web.Response(status=429), "Try again later"),
        (lambda: web.Response(status=401), r"refused access \(401\)"),
        (lambda: web.Response(status=503, text="down"), r"has a fault \(503\). Try again later"),
        (lambda: web.Response(status=400), r"refused the search \(400\)"),
        (lambda: web.Response(status=302, headers={"Location": "http://10.0.0.1/"}), r"refused the search \(302\)"),
        (lambda: web.Response(text="<html>Sign in</html>"), "something other than results"),
        (lambda: web.json_response([1, 2]), "something other than results"),
        (lambda: web.json_response({"web": "none", "results": "none"}), "something other than results"),
        (lambda: web.json_response({"web": {"results": [3]}, "results": [None]}), "something other than results"),
        (lambda: web.Response(body=b" " * 2_000_001), "longer than 2,000,000 bytes"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
async def test_what_a_service_cannot_do_is_said_plainly(kind: str, answer: Any, says: str) -> None:
    async with opened(kind) as (service, services):
        services.answer = answer
        with pytest.raises(SearchFailed, match=says) as raised:
            await service.search("durable runs", 6)
        assert KEY not in str(raised.value)


@pytest.mark.parametrize(("kind", "says"), [("brave", "BRAVE_API_KEY"), ("tavily", "TAVILY_API_KEY")])
async def test_a_wrong_or_missing_key_names_the_variable_and_never_the_key(kind: str, says: str) -> None:
    for key in ("another-key", ""):
        async with opened(kind, key) as (service, services):
            with pytest.raises(SearchFailed, match=says) as raised:
                await service.search("durable runs", 6)
            assert "another-key" not in str(raised.value)
            assert len(services.asked) == (1 if key else 0)  # without a key nothing is sent


async def test_a_plan_that_is_used_up_is_said_to_be_that() -> None:
    async with opened("tavily") as (service, services):
        services.answer = lambda: web.Response(status=432)
        with pytest.raises(SearchFailed, match="plan is reached"):
            await service.search("durable runs", 6)


async def test_searxng_without_json_or_engines_says_what_to_do() -> None:
    async with opened("searxng", "") as (service, services):
        services.answer = lambda: web.Response(status=403)
        with pytest.raises(SearchFailed, match=r"adds json to search.formats"):
            await service.search("durable runs", 6)
        services.answer, services.found, services.unresponsive = None, [], [["google", "CAPTCHA"]]
        with pytest.raises(SearchFailed, match="No search engine answered"):
            await service.search("durable runs", 6)


async def test_brave_is_asked_within_its_bounds() -> None:
    async with opened("brave") as (service, services):
        await service.search(" ".join(f"w{n}" for n in range(60)), 20)
        assert len(services.asked[0].split()) == 50
        assert services.counts == [20]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_service_that_cannot_be_reached_is_said_to_be_that(kind: Any) -> None:
    connections = Connections()
    settings = WebSettings(search=kind, url="http://127.0.0.1:1")
    try:
        with pytest.raises(SearchFailed, match="cannot be reached"):
            await open_service(settings, connections, SystemClock(), ApiKey(KEY)).search("durable runs", 6)
    finally:
        await connections.aclose()

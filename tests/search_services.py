"""A server that answers as search services do, written from their published references."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

KEY = "secret-key-of-a-service"
FOUND = [
    {"title": "Outlast", "url": "https://outlast.example/", "text": "Runs that <b>outlast</b> a crash &amp; more."},
    {"title": "Durable runs", "url": "https://blog.example/durable?a=1&b=2", "text": "What makes a run durable."},
]


@dataclass
class SearchServices:
    """SearXNG at `/searxng`, Brave at `/brave`, Tavily at `/tavily`. `answer`, if set, replaces every answer: a status
    with headers, or bytes. `asked` are the queries."""

    base: str = ""
    found: list[dict[str, str]] = field(default_factory=lambda: list(FOUND))
    answer: Callable[[], web.StreamResponse] | None = None
    asked: list[str] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    unresponsive: list[list[str]] = field(default_factory=list)

    async def searxng(self, request: web.Request) -> web.StreamResponse:
        # https://docs.searxng.org/dev/search_api.html; formats other than html must be switched on
        self.asked.append(request.query["q"])
        if self.answer is not None:
            return self.answer()
        if request.query.get("format") != "json":
            return web.Response(status=403, text="<h1>Forbidden</h1>", content_type="text/html")
        rows = [
            {"url": one["url"], "title": one["title"], "content": one["text"], "engine": "e", "score": 1.0}
            for one in self.found
        ]
        body = {"query": request.query["q"], "number_of_results": 0, "results": rows, "answers": [], "suggestions": []}
        return web.json_response({**body, "unresponsive_engines": self.unresponsive})

    async def brave(self, request: web.Request) -> web.StreamResponse:
        # https://api-dashboard.search.brave.com/app/documentation/web-search
        self.asked.append(request.query["q"])
        self.counts.append(int(request.query["count"]))
        if self.answer is not None:
            return self.answer()
        if request.headers.get("X-Subscription-Token") != KEY:
            error = {"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": "The token is invalid.", "status": 422}
            return web.json_response({"type": "ErrorResponse", "error": error}, status=422)
        rows = [
            {"type": "search_result", "title": one["title"], "url": one["url"], "description": one["text"]}
            for one in self.found
        ]
        more: dict[str, Any] = {"web": {"type": "search", "results": rows}} if rows else {}
        return web.json_response({"type": "search", "query": {"original": request.query["q"]}, **more})

    async def tavily(self, request: web.Request) -> web.StreamResponse:
        # https://docs.tavily.com/documentation/api-reference/endpoint/search
        body = await request.json()
        self.asked.append(body["query"])
        self.counts.append(body["max_results"])
        if self.answer is not None:
            return self.answer()
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return web.json_response({"detail": {"error": "Unauthorized: missing or invalid API key."}}, status=401)
        rows = [
            {"title": one["title"], "url": one["url"], "content": one["text"], "score": 0.9, "raw_content": None}
            for one in self.found
        ]
        return web.json_response({"query": body["query"], "answer": None, "images": [], "results": rows})


@asynccontextmanager
async def search_services() -> AsyncIterator[SearchServices]:
    services = SearchServices()
    app = web.Application()
    app.router.add_get("/searxng/search", services.searxng)
    app.router.add_get("/brave/web/search", services.brave)
    app.router.add_post("/tavily/search", services.tavily)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    services.base = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield services
    finally:
        await runner.cleanup()

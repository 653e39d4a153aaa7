"""A web site of the tests' own on loopback: documents that can be changed, and what was asked of it."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web


@dataclass
class Site:
    """`pages` by path: text or bytes, or a status to answer with. Types follow from the path; `.html` is a page, what
    has no ending is one too. Answers carry an ETag of their content and say 304 to whoever has it."""

    pages: dict[str, str | bytes | int] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    base: str = ""
    port: int = 0
    at_once: int = 0
    most_at_once: int = 0

    @property
    def allowed(self) -> frozenset[tuple[str, int]]:
        return frozenset({("127.0.0.1", self.port)})

    def forget(self) -> None:
        self.asked.clear()
        self.statuses.clear()

    def answer(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        self.agents.add(request.headers.get("User-Agent", ""))
        response = self._answer(request)
        self.statuses.append(response.status)
        return response

    def _answer(self, request: web.Request) -> web.Response:
        page = self.pages.get(request.path, 404)
        headers = self.headers.get(request.path, {})
        if isinstance(page, int):
            return web.Response(status=page, headers=headers)
        body = page.replace("{base}", self.base).encode() if isinstance(page, str) else page
        etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        if request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers={"ETag": etag})
        kind = "text/html" if request.path.endswith(".html") or "." not in request.path else "text/plain"
        return web.Response(body=body, headers={"ETag": etag, "Content-Type": kind, **headers})


@asynccontextmanager
async def web_site(pages: dict[str, str | bytes | int] | None = None) -> AsyncIterator[Site]:
    site = Site(dict(pages or {}))

    async def answer(request: web.Request) -> web.Response:
        site.at_once += 1
        site.most_at_once = max(site.most_at_once, site.at_once)
        try:
            return site.answer(request)
        finally:
            site.at_once -= 1

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    site.port = runner.addresses[0][1]
    site.base = f"http://127.0.0.1:{site.port}"
    try:
        yield site
    finally:
        await runner.cleanup()

"""The tracker's application, called without a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from outlast.testing.clock import ManualClock
from outlast_demo.tracker.application import tracker_app
from outlast_demo.tracker.request_log import RequestLog
from outlast_demo.tracker.storage import open_book, open_secret

HEADERS = {"Tracker-Version": "2026-09"}


@dataclass
class Desk:
    client: httpx.AsyncClient
    clock: ManualClock
    folder: Path
    secret: str

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return await self.client.get(f"/v2{path}", headers=headers)

    async def keys(self, query: str) -> list[str]:
        answer = await self.get(f"/issues?page_size=50&{query}")
        assert answer.status_code == 200, answer.text
        return [item["key"] for item in answer.json()["items"]]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    clock = ManualClock()
    secret = open_secret(tmp_path)
    kept = open_book(tmp_path, clock, reset=False)
    app = tracker_app(kept, secret, RequestLog(tmp_path / "requests.log", clock), clock)
    plain = secret.reveal().decode()
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app),
        base_url="http://tracker",
        headers=HEADERS | {"Authorization": f"Bearer {plain}"},
    ) as client:
        yield Desk(client, clock, tmp_path, plain)

"""What a document's host does that no page can be read from is told in words that help."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest

from outlast.base.clock import SystemClock
from outlast.kernel.http import private_addresses
from outlast.kernel.web.http_fetch import Fetcher, NotRead


async def test_a_name_that_no_resolver_answers_for_is_said_to_be_that(monkeypatch: pytest.MonkeyPatch) -> None:
    async def silence(*_args: Any, **_more: Any) -> None:
        await anyio.sleep_forever()

    monkeypatch.setattr(private_addresses, "RESOLVE_S", 0.01)
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", silence, raising=False)
    fetcher = Fetcher(30, SystemClock())
    try:
        with pytest.raises(NotRead, match=r"cannot be reached: its name was not resolved within 0\.01 s"):
            await fetcher.get("https://docs.outlast.invalid/llms.txt", 1_000)
    finally:
        await fetcher.aclose()

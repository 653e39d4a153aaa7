from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from outlast.testing.model_server import ModelServer
from tests.crash.server import CrashServer
from tests.lag import assert_kept_going

MakeServer = Callable[..., CrashServer]


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    """The model's side; it outlives every kill."""
    async with ModelServer() as running:
        yield running


@pytest.fixture
def make_server(tmp_path: Path, model: ModelServer) -> Iterator[MakeServer]:
    """A server that has not been started yet, with a folder of its own by name. None of their event loops may stand
    still."""

    def make(name: str = "server", **options: object) -> CrashServer:
        return CrashServer(tmp_path / name, model.base_url, **options)  # type: ignore[arg-type]

    yield make
    for log in tmp_path.glob("*/server.log"):
        assert_kept_going(log)

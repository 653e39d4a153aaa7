from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from outlast.testing.model_server import ModelServer
from tests.crash.server import CrashServer

MakeServer = Callable[..., CrashServer]


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    """The model's side; it outlives every kill."""
    async with ModelServer() as running:
        yield running


@pytest.fixture
def make_server(tmp_path: Path, model: ModelServer) -> MakeServer:
    """A server that has not been started yet, with a folder of its own by name."""

    def make(name: str = "server", **options: object) -> CrashServer:
        return CrashServer(tmp_path / name, model.base_url, **options)  # type: ignore[arg-type]

    return make

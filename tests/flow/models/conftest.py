"""The makers' SDKs make the models of their events when the first one comes: half a second that no test is about."""

from __future__ import annotations

import anyio
import pytest

from outlast.testing.model_server import Answer
from tests.flow.models.rig import KINDS, listen, rigged


@pytest.fixture(scope="session", autouse=True)
def sdks_are_ready() -> None:
    async def ask() -> None:
        for kind in KINDS:
            calls = ({"name": "terminal", "arguments": {}},)
            async with rigged(kind, Answer(text="Hello", reasoning="Hm", calls=calls)) as rig:
                await listen(rig.model, rig.request())

    anyio.run(ask)

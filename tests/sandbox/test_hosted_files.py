"""Files of sandboxes that run on somebody else's machines: they go there, and come back into checkpoints."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from outlast_sandbox.interface import SandboxProvider
from tests.sandbox.test_checkpoints import Workshop

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]


@pytest.fixture(params=["e2b", "deno"])
def provider(request: pytest.FixtureRequest) -> SandboxProvider:
    """Those without a folder on this machine."""
    made: SandboxProvider = request.getfixturevalue(request.param)
    return made


@pytest.fixture
async def shop(provider: SandboxProvider, sqlite_url: str, tmp_path: Path) -> AsyncIterator[Workshop]:
    db = open_database(sqlite_url, tmp_path, SystemClock())
    shop = Workshop(db, provider, tmp_path / "data")
    await shop.open()
    yield shop
    await shop.machines.kill(shop.workspace_id)
    await shop.machines.aclose()
    await db.aclose()


async def test_files_of_a_sandbox_that_is_ended_are_in_the_next_one(shop: Workshop) -> None:
    await shop.run("mkdir src && echo one > src/a && head -c 2000000 /dev/urandom > big && sha256sum big > sum")
    await shop.machines.kill(shop.workspace_id)
    assert await shop.run("cat src/a && sha256sum -c sum") == "one\nbig: OK\n"


async def test_what_was_there_at_the_last_checkpoint_outlives_the_service_losing_it(shop: Workshop) -> None:
    await shop.run("echo kept > a")
    assert await shop.keeper.take(shop.workspace_id, "tool") is not None
    sandbox = await shop.machines.ensure(shop.workspace_id, shop.project_id)
    await sandbox.kill()  # behind the manager's back
    assert await shop.run("cat a") == "kept\n"


async def test_an_unchanged_workspace_makes_no_new_checkpoint(shop: Workshop) -> None:
    await shop.run("echo one > a")
    first = await shop.keeper.take(shop.workspace_id, "tool")
    await shop.run("cat a")
    again = await shop.keeper.take(shop.workspace_id, "tool")
    assert first is not None
    assert again is None or again.id == first.id

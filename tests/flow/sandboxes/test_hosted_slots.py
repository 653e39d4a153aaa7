"""How many sandboxes programs may run, of one project and in all. In memory: only rows are counted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from outlast.base.clock import SystemClock
from outlast.base.errors import RateLimited
from outlast.db.database import Database
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.sandboxes.hosted import HostedOrder
from outlast.kernel.sandboxes.hosted_actions import create_hosted
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.services import Services
from outlast.kernel.settings import Settings
from outlast_sandbox.providers.memory import MemoryProvider
from tests.factories import make_services, make_user

SANDBOX = SandboxSettings(provider="memory", max_awake=4)  # three of them for one project


@pytest.fixture
async def services(db: Database, tmp_path: Path) -> AsyncIterator[Services]:
    async with MemoryProvider() as provider:
        machines = SandboxManager(db, provider, SystemClock(), SANDBOX, tmp_path)
        try:
            yield make_services(db, tmp_path, Settings(sandbox=SANDBOX), manager=machines)
        finally:
            await machines.aclose()


async def refusal(services: Services, actor: Actor) -> RateLimited:
    with pytest.raises(RateLimited) as refused:
        await create_hosted(services, actor, HostedOrder(timeout_s=600))
    return refused.value


async def test_one_project_runs_its_share_of_the_sandboxes_and_another_still_starts_one(
    services: Services, db: Database
) -> None:
    ada, bob = await db.write(make_user), await db.write(make_user, "Bob")
    for _ in range(3):
        await create_hosted(services, ada, HostedOrder(timeout_s=600))
    error = await refusal(services, ada)
    assert (error.fields["per"], error.fields["limit"]) == ("project", 3)
    await create_hosted(services, bob, HostedOrder(timeout_s=600))
    error = await refusal(services, bob)
    assert (error.fields["per"], error.fields["limit"]) == ("server", 4)

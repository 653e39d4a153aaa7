"""SIGKILL in the middle of an agent of the Agent Client Protocol: it works on, and its run ends the same."""

from __future__ import annotations

import random

import pytest

from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.acp_chat import FILES
from tests.crash.conftest import MakeServer
from tests.crash.kills import SEED_VARIABLE, Report

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]


async def _kill(make_server: MakeServer, model: ModelServer, at_points: int, at_times: int) -> Report:
    seed = kills.seed_of_this_run()
    print(f"{SEED_VARIABLE}={seed}")
    server = make_server("acp", guest="tests.crash.acp_chat", turns=[])
    async with kills.opened(server) as db:
        reference = await kills.undisturbed(server, db, model, FILES)
        points = random.Random(seed).choices(kills.points_of(reference.commits), k=at_points)
        report = await kills.at_points(server, db, model, reference, [[point] for point in points])
        random_times = await kills.at_random_times(server, db, model, reference, range(seed, seed + at_times))
        problems = [*report.problems, *random_times.problems]
        assert not problems, "\n\n".join(problems)
        report.kills += random_times.kills
        return report


async def test_an_agent_whose_server_is_killed_does_each_thing_once_and_ends_the_same(
    make_server: MakeServer, model: ModelServer
) -> None:
    assert (await _kill(make_server, model, 2, 1)).kills >= 2


@pytest.mark.deep
@pytest.mark.timeout(3600)
async def test_an_agent_whose_server_is_killed_many_times_ends_the_same(
    make_server: MakeServer, model: ModelServer
) -> None:
    assert (await _kill(make_server, model, 30, 30)).kills >= 50

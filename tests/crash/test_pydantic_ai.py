"""SIGKILL in the middle of an agent of pydantic-ai: its run ends the same, with the same messages."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.guest_chat import ANSWER, EFFECTS
from tests.crash.kills import SEED_VARIABLE, Report
from tests.crash.server import CrashServer

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
MADE = ["first", "second", "third", "pay"]


def _check_effects(server: CrashServer, runs: int) -> None:
    """Each call of each run took effect, and again only for a kill: at most those that were open then."""
    taken = Counter((server.folder / EFFECTS).read_text().splitlines())
    assert Counter(line.split(" ")[1] for line in taken) == Counter(dict.fromkeys(MADE, runs))
    most = 2 * kills.MAX_WIDTH * (server.starts - 1)
    assert taken.total() - len(taken) <= most, f"calls were made again without a crash: {taken}"


async def _kill(make_server: MakeServer, model: ModelServer, at_points: int, at_times: int) -> Report:
    seed = kills.seed_of_this_run()
    print(f"{SEED_VARIABLE}={seed}")
    server = make_server("guest", guest="tests.crash.guest_chat", turns=[])
    async with kills.opened(server) as db:
        reference = await kills.undisturbed(server, db, model, {})
        answer = reference.outcome["messages"][-1]["parts"]
        made = [part["tool"] for part in answer if part["type"] == "tool_call"]
        assert made == ["note", "note_soon", "note_soon", "pay"]
        assert answer[-1]["text"].strip() == ANSWER
        names = [unit[0] for unit in reference.outcome["steps"]]
        assert "@messages 0" in names
        points = random.Random(seed).choices(kills.points_of(reference.commits), k=at_points)
        report = await kills.at_points(server, db, model, reference, [[point] for point in points])
        random_times = await kills.at_random_times(server, db, model, reference, range(seed, seed + at_times))
        problems = [*report.problems, *random_times.problems]
        assert not problems, "\n\n".join(problems)
        _check_effects(server, 1 + report.done + random_times.done)
        report.kills += random_times.kills
        return report


async def test_an_agent_of_pydantic_ai_that_is_killed_ends_the_same_with_the_same_messages(
    make_server: MakeServer, model: ModelServer
) -> None:
    assert (await _kill(make_server, model, 4, 1)).kills >= 4


@pytest.mark.deep
@pytest.mark.timeout(3600)
async def test_an_agent_of_pydantic_ai_that_is_killed_many_times_ends_the_same(
    make_server: MakeServer, model: ModelServer
) -> None:
    assert (await _kill(make_server, model, 30, 70)).kills >= 75

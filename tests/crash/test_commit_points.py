"""SIGKILL at each commit of a run: the same thread, ledger, journal and sandboxes as without."""

from __future__ import annotations

import functools
import os
import random
from typing import Any

import pytest

from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.crash_database import CrashPoint
from tests.crash.kills import BY_THE_CLOCK, POINT_VARIABLE, SEED_VARIABLE, Reference, Report

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
LANES = 2
SAMPLE = 10


async def _reference(make_server: MakeServer, model: ModelServer) -> Reference:
    server = make_server("undisturbed")
    async with kills.opened(server) as db:
        return await kills.undisturbed(server, db, model)


def _plans(reference: Reference) -> list[list[CrashPoint]]:
    """Every commit, before and after; those of a start beneath a run that was killed in a command."""
    in_a_command = CrashPoint("_mark_started.change", 2, "after")
    starts = [[in_a_command, CrashPoint(label, 1, side)] for label in kills.AT_START for side in ("before", "after")]
    return [[point] for point in kills.points_of(reference.commits)] + starts


async def _kill_at(make_server: MakeServer, model: ModelServer, reference: Reference, plans: list[Any]) -> Report:
    servers = [make_server(f"lane{number}") for number in range(min(LANES, len(plans)))]

    async def series(server: Any, db: Any, mine: list[Any]) -> Report:
        return await kills.at_points(server, db, model, reference, mine)

    report = await kills.in_lanes(servers, plans, series)
    print(report)
    certain = [name for name in report.not_reached if not BY_THE_CLOCK.search(name)]
    assert not certain, f"commits that did not come again: {certain}"
    return report


async def test_a_run_killed_at_some_of_its_commits_ends_as_if_nothing_had_happened(
    make_server: MakeServer, model: ModelServer
) -> None:
    reference = await _reference(make_server, model)
    plans, seed = _plans(reference), kills.seed_of_this_run()
    chosen = random.Random(seed).sample(plans, min(SAMPLE, len(plans)))
    report = await _kill_at(make_server, model, reference, chosen)
    assert not report.problems, f"{SEED_VARIABLE}={seed}\n" + "\n\n".join(report.problems)


@pytest.mark.deep
@pytest.mark.timeout(3600)
async def test_a_run_killed_at_any_commit_ends_as_if_nothing_had_happened(
    make_server: MakeServer, model: ModelServer
) -> None:
    reference = await _reference(make_server, model)
    wanted = os.environ.get(POINT_VARIABLE, "")
    plans = [plan for plan in _plans(reference) if wanted in str(plan[0])]
    report = await _kill_at(make_server, model, reference, plans)
    assert not report.problems, "\n\n".join(report.problems)


async def _kill_randomly(make_server: MakeServer, model: ModelServer, count: int) -> None:
    reference = await _reference(make_server, model)
    first = kills.seed_of_this_run()
    series = functools.partial(_random_series, model=model, reference=reference)
    servers = [make_server(f"lane{number}") for number in range(min(LANES, count))]
    report = await kills.in_lanes(servers, range(first, first + count), series)
    print(f"seeds {first} to {first + count - 1}: {report}")
    assert not report.problems, f"{SEED_VARIABLE}=<seed> repeats one\n" + "\n\n".join(report.problems)


async def _random_series(server: Any, db: Any, seeds: list[int], *, model: Any, reference: Reference) -> Report:
    return await kills.at_random_times(server, db, model, reference, seeds)


async def test_runs_killed_at_random_times_end_as_if_nothing_had_happened(
    make_server: MakeServer, model: ModelServer
) -> None:
    await _kill_randomly(
        make_server, model, 1 if SEED_VARIABLE in os.environ else 7
    )  # about 13 kills, and 8 on PostgreSQL


@pytest.mark.deep
@pytest.mark.timeout(3600)
async def test_runs_killed_at_two_hundred_random_times_end_as_if_nothing_had_happened(
    make_server: MakeServer, model: ModelServer
) -> None:
    await _kill_randomly(make_server, model, int(os.environ.get("OUTLAST_TEST_KILLS", "200")))

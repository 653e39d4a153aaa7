"""SIGKILL at each commit of a flow: its steps are recorded once, its children start once, and all ends the same."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
import sqlalchemy as sa

from outlast.db.database import Database, Tx
from outlast.kernel.runs.tables import effects, function_steps, runs, timers
from outlast.kernel.threads.rows import ThreadStateRow
from outlast.kernel.threads.tables import thread_states
from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.crash_database import CrashPoint
from tests.crash.flows_chat import CHILDREN, EFFECTS
from tests.crash.kills import SEED_VARIABLE, Reference, Report
from tests.crash.server import CrashServer

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
LANES = 2
TURNS: list[dict[str, Any]] = [{"text": f"Answer {n}."} for n in range(CHILDREN)]
ANSWER = "; ".join([*(turn["text"] for turn in TURNS), "beside is done", "dry", "last is done"])
STEPS = ["first", "beside", "last"]


def _server(make_server: MakeServer, name: str, **options: Any) -> CrashServer:
    return make_server(name, flows=True, turns=TURNS, at_once=CHILDREN, **options)


async def _reference(server: CrashServer, db: Database, model: ModelServer) -> Reference:
    reference = await kills.undisturbed(server, db, model, {})
    outcome = reference.outcome
    assert [part["text"] for part in outcome["messages"][-1]["parts"] if part["type"] == "text"] == [ANSWER]
    children = [f"worker:{n}" for n in range(CHILDREN)]
    assert [step[1] for step in outcome["steps"]] == ["first", *STATE, *children, "beside", *ASKED]
    assert [child["status"] for child in outcome["children"]] == ["completed"] * CHILDREN
    return reference


STATE = ["update", "get tone", "set tone"]
ASKED = ["Which tone?", "last"]


async def _check_effects(server: CrashServer, db: Database, width: int = 1) -> None:
    """Each step of each run took effect once, and once more at most for each kill in which it was under way (`width`:
    how many runs there are at the same time), and each change of a state once; nothing waits any more."""
    flows, left = await db.read(_flows_and_leftovers)
    assert left == []
    states = await db.read(lambda tx: tx.rows(ThreadStateRow, sa.select(thread_states)))
    assert [(row.content, row.revision) for row in states] == [({"jobs": 1, "tone": "none"}, 2)] * len(flows)
    taken = Counter((server.folder / EFFECTS).read_text().splitlines())
    assert taken.keys() == {f"{effect_id} {name}" for effect_id in flows for name in STEPS}
    assert taken.total() <= len(taken) + (server.starts - 1) * width, f"a step was done again without a crash: {taken}"


def _flows_and_leftovers(tx: Tx) -> tuple[list[str], list[str]]:
    flows = sa.select(effects.c.id).where(effects.c.kind == "flow")
    open_runs = sa.select(runs.c.id).where(runs.c.leg != "ended")
    waiting = sa.select(function_steps.c.id).where(function_steps.c.status == "waiting")
    rung = sa.select(timers.c.subject_id).where(timers.c.kind.in_(["step_due", "end_children", "cancel_force"]))
    return list(tx.execute(flows).scalars()), list(tx.execute(sa.union_all(open_runs, waiting, rung)).scalars())


async def _kill_at(make_server: MakeServer, model: ModelServer, reference: Reference, points: list[CrashPoint]) -> None:
    async def series(server: CrashServer, db: Database, mine: list[Any]) -> Report:
        report = await kills.at_points(server, db, model, reference, mine)
        if not report.problems:
            await _check_effects(server, db)
        return report

    servers = [_server(make_server, f"lane{n}") for n in range(min(LANES, len(points)))]
    # What goes into one commit depends on how fast the children are: some do not come again under the same name.
    _judge(await kills.in_lanes(servers, [[point] for point in points], series), least=len(points) // 4)


def _judge(report: Report, least: int = 1) -> None:
    print(report)
    assert not report.problems, "\n\n".join(report.problems)
    assert report.kills >= least, f"commits that did not come again: {report.not_reached}"


async def _undisturbed(make_server: MakeServer, model: ModelServer) -> Reference:
    server = _server(make_server, "undisturbed")
    async with kills.opened(server) as db:
        reference = await _reference(server, db, model)
        await _check_effects(server, db)
    return reference


async def test_a_flow_killed_at_some_of_its_commits_ends_as_if_nothing_had_happened(
    make_server: MakeServer, model: ModelServer
) -> None:
    reference, seed = await _undisturbed(make_server, model), kills.seed_of_this_run()
    print(f"{SEED_VARIABLE}={seed}")
    await _kill_at(make_server, model, reference, random.Random(seed).sample(kills.points_of(reference.commits), 5))


@pytest.mark.deep
@pytest.mark.timeout(3600)
async def test_a_flow_killed_at_any_of_its_commits_ends_as_if_nothing_had_happened(
    make_server: MakeServer, model: ModelServer
) -> None:
    reference = await _undisturbed(make_server, model)
    await _kill_at(make_server, model, reference, kills.points_of(reference.commits))


async def _kill_at_random(make_server: MakeServer, model: ModelServer, times: int) -> None:
    seed = kills.seed_of_this_run()
    print(f"{SEED_VARIABLE}={seed}")
    server = _server(make_server, "random")
    async with kills.opened(server) as db:
        reference = await _reference(server, db, model)
        report = await kills.at_random_times(server, db, model, reference, range(seed, seed + times))
        _judge(report)
        await _check_effects(server, db, kills.MAX_WIDTH)


async def test_a_flow_killed_at_random_times_ends_the_same(make_server: MakeServer, model: ModelServer) -> None:
    await _kill_at_random(make_server, model, 3)


@pytest.mark.deep
@pytest.mark.timeout(3600)
async def test_a_flow_killed_at_many_random_times_ends_the_same(make_server: MakeServer, model: ModelServer) -> None:
    await _kill_at_random(make_server, model, 200)


@pytest.mark.deep
@pytest.mark.timeout(3600)
@pytest.mark.postgres
async def test_the_same_on_postgresql(make_server: MakeServer, model: ModelServer, postgres_url: str) -> None:
    server, seed = _server(make_server, "only", database=postgres_url, lease_s=1.5), kills.seed_of_this_run()
    print(f"{SEED_VARIABLE}={seed}")
    async with kills.opened(server) as db:
        reference = await _reference(server, db, model)
        points = [[point] for point in random.Random(seed).sample(kills.points_of(reference.commits), 12)]
        at_points = await kills.at_points(server, db, model, reference, points)
        at_times = await kills.at_random_times(server, db, model, reference, range(seed, seed + 5))
        _judge(at_points)
        _judge(at_times)
        await _check_effects(server, db, kills.MAX_WIDTH)

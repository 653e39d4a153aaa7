"""SIGKILL at each commit of a run with stages: they are done again or never again, and all ends the same."""

from __future__ import annotations

import random
from typing import Any

import pytest

from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.crash_database import CrashPoint
from tests.crash.kills import BY_THE_CLOCK, SEED_VARIABLE, Reference, Report
from tests.crash.server import CrashServer

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
LANES = 2
OURS = ("_name_stage", "staging._record", "workflow.step", "_record.change")
TURNS: list[dict[str, Any]] = [
    {
        "text": "I begin with a file.",
        "calls": [{"id": "call_first", "name": "terminal", "arguments": {"command": "echo first | tee -a first.txt"}}],
    },
    {"text": "Done, I think."},
    {
        "text": "One file was missing. <task_summary>All is there.</task_summary>",
        "calls": [{"id": "call_fix", "name": "terminal", "arguments": {"command": "echo fixed | tee -a fixed.txt"}}],
    },
]
FILES = {"prepared.txt": "prepared\n", "first.txt": "first\n", "fixed.txt": "fixed\n"}
WORKFLOW = [
    ["open_sandbox", "done", ""],
    ["agent", "done", "3 turns, 2 tool calls"],
    ["check", "done", ""],
    ["preview_url", "done", "port 3000"],
    ["save_chat", "done", ""],
    ["save_answer", "done", ""],
    ["settle_credits", "done", "3 credits"],
]


def _server(make_server: MakeServer, name: str, **options: Any) -> CrashServer:
    return make_server(name, staged=True, turns=TURNS, **options)


async def _reference(make_server: MakeServer, model: ModelServer, **options: Any) -> Reference:
    server = _server(make_server, "undisturbed", **options)
    async with kills.opened(server) as db:
        reference = await kills.undisturbed(server, db, model, FILES)
    assert reference.outcome["workflow"] == WORKFLOW
    kinds = [effect["kind"] for effect in reference.outcome["journal"]]
    assert kinds == ["prepare", "model", "tool", "model", "check", "model", "tool", "check"]
    return reference


def _of_stages(points: list[CrashPoint]) -> list[CrashPoint]:
    return [point for point in points if any(mark in point.label for mark in OURS)]


async def _kill_at(
    make_server: MakeServer, model: ModelServer, reference: Reference, points: list[CrashPoint], **options: Any
) -> None:
    servers = [_server(make_server, f"lane{n}", **options) for n in range(min(LANES, len(points)))]

    async def series(server: Any, db: Any, mine: list[Any]) -> Report:
        return await kills.at_points(server, db, model, reference, mine)

    report = await kills.in_lanes(servers, [[point] for point in points], series)
    print(report)
    certain = [name for name in report.not_reached if not BY_THE_CLOCK.search(name)]
    assert not certain, f"commits that did not come again: {certain}"
    assert not report.problems, "\n\n".join(report.problems)


async def test_a_run_killed_at_some_commits_of_its_stages_ends_as_if_nothing_had_happened(
    make_server: MakeServer, model: ModelServer
) -> None:
    reference = await _reference(make_server, model)
    points, seed = _of_stages(kills.points_of(reference.commits)), kills.seed_of_this_run()
    assert len(points) >= 20, sorted({point.label for point in points})
    print(f"{SEED_VARIABLE}={seed}")
    await _kill_at(make_server, model, reference, random.Random(seed).sample(points, 5))


@pytest.mark.deep
@pytest.mark.timeout(3600)
async def test_a_run_killed_at_any_commit_of_its_stages_ends_as_if_nothing_had_happened(
    make_server: MakeServer, model: ModelServer
) -> None:
    reference = await _reference(make_server, model)
    await _kill_at(make_server, model, reference, _of_stages(kills.points_of(reference.commits)))


@pytest.mark.deep
@pytest.mark.timeout(3600)
@pytest.mark.postgres
async def test_the_same_on_postgresql(make_server: MakeServer, model: ModelServer, postgres_url: str) -> None:
    options = {"database": postgres_url, "lease_s": 1.5}
    server, seed = _server(make_server, "only", **options), kills.seed_of_this_run()
    async with kills.opened(server) as db:
        reference = await kills.undisturbed(server, db, model, FILES)
        points = [[point] for point in _of_stages(kills.points_of(reference.commits))]
        report = await kills.at_points(server, db, model, reference, random.Random(seed).sample(points, 12))
    print(f"{SEED_VARIABLE}={seed}: {report}")
    assert not report.problems, "\n\n".join(report.problems)

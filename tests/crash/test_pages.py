"""Pages on a real server, with a model behind OpenAI's wire format: killed between a tool's result and the patches that
follow from it, in the middle of patches, at any commit. Page, history, modules and memory are as without a kill."""

from __future__ import annotations

import random
from typing import Any

import orjson
import pytest

from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.crash_database import CrashPoint
from tests.crash.kills import BY_THE_CLOCK, SEED_VARIABLE, Reference, Report
from tests.crash.server import CrashServer

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
LANES = 2
HTML = '<h1 id="title">Issues</h1><p id="count">0</p><ul id="list"></ul>'
MODULE = "export function open(issues: { open: boolean }[]) {\n  return issues.filter((issue) => issue.open)\n}\n"


def line(**value: Any) -> str:
    return orjson.dumps(value).decode()


def patch(op: str, at: str, **more: Any) -> dict[str, Any]:
    return {"op": op, "at": at, **more}


def item(number: int) -> str:
    return line(
        type="patches", patches=[patch("append", "#list", html=f'<li id="i{number}">Issue number {number}</li>')]
    )


TURNS: list[dict[str, Any]] = [
    {
        "reasoning": "First a file that can be used again.",
        "text": "\n".join(["I look first.", line(type="patches", patches=[patch("text", "#count", text="…")]), ""]),
        "calls": [
            {
                "id": "call_write",
                "name": "create_or_update_files",
                "arguments": {"files": [{"path": "lib/issues.ts", "content": MODULE}]},
            }
        ],
        "cached_tokens": 0,
    },
    {
        "text": "\n".join(
            [
                *(item(number) for number in range(1, 5)),
                line(type="patches", patches=[patch("text", "#nowhere", text="3")]),
                line(type="patches", patches=[patch("text", "#count", text="4")]),
                line(type="stats", issues=4),
                line(
                    type="code_modules",
                    modules=[
                        {
                            "path": "lib/issues.ts",
                            "description": "Which issues are open.",
                            "exports": ["open"],
                            "usage": "import { open } from './lib/issues.ts'",
                        }
                    ],
                ),
                "Four issues.",
            ]
        )
    },
    {
        "text": "\n".join(
            [
                line(type="patches", patches=[patch("classes", "#count", add=["big"])]),
                line(type="summary", text='"show issues" → listed four issues'),
                "Mended.",
            ]
        )
    },
]
FILES = {"lib/issues.ts": MODULE}


def _server(make_server: MakeServer, name: str, **options: Any) -> CrashServer:
    return make_server(name, page=HTML, turns=TURNS, **options)


async def _reference(server: CrashServer, db: Any, model: ModelServer) -> Reference:
    reference = await kills.undisturbed(server, db, model, FILES)
    page = reference.outcome["page"]
    assert page["html"].count("<li") == 4
    assert 'class="big"' in page["html"]
    assert page["version"] == 1 + 1 + 5 + 1
    assert [one["path"] for one in page["modules"]] == ["lib/issues.ts"]
    assert page["memories"] == ['"show issues" → listed four issues']
    assert page["problems"] == []
    kinds = [effect["kind"] for effect in reference.outcome["journal"]]
    assert kinds == ["prepare", "model", "tool", "model", "check", "model", "check"]
    return reference


def _between_result_and_patch(commits: list[str]) -> list[CrashPoint]:
    """The tool's result is recorded; nothing of what the model makes of it is."""
    result = next(number for number, label in enumerate(commits) if "tool_call.result" in label)
    following = next(number for number, label in enumerate(commits) if number > result and "page.patch" in label)
    nth = commits[: following + 1].count(commits[following])
    return [CrashPoint(commits[result], 1, "after"), CrashPoint(commits[following], nth, "before")]


def _of_lines(points: list[CrashPoint]) -> list[CrashPoint]:
    marks = (
        "_take",
        "page.patch",
        "page.html",
        "page.stats",
        "_record_turn",
        "_record.change",
        "tool_call.result",
        "step.started",
    )
    return [point for point in points if any(mark in point.label for mark in marks)]


def _judge(report: Report) -> None:
    print(report)
    certain = [name for name in report.not_reached if not BY_THE_CLOCK.search(name)]
    assert not certain, f"commits that did not come again: {certain}"
    assert not report.problems, "\n\n".join(report.problems)


async def test_a_server_killed_between_a_result_and_its_patches_leaves_page_modules_and_memory_as_without(
    make_server: MakeServer, model: ModelServer
) -> None:
    server = _server(make_server, "only")
    async with kills.opened(server) as db:
        reference = await _reference(server, db, model)
        points, seed = _of_lines(kills.points_of(reference.commits)), kills.seed_of_this_run()
        assert len(points) >= 20, sorted({point.label for point in points})
        print(f"{SEED_VARIABLE}={seed}")
        chosen = [*_between_result_and_patch(reference.commits), *random.Random(seed).sample(points, 3)]
        _judge(await kills.at_points(server, db, model, reference, [[point] for point in chosen]))


async def _kill_in_lanes(make_server: MakeServer, model: ModelServer, work: Any, series: Any, **options: Any) -> None:
    servers = [_server(make_server, f"lane{n}", **options) for n in range(LANES)]
    _judge(await kills.in_lanes(servers, work, series))


@pytest.mark.deep
@pytest.mark.timeout(3600)
async def test_a_page_killed_at_any_commit_of_its_lines_ends_as_if_nothing_had_happened(
    make_server: MakeServer, model: ModelServer
) -> None:
    server = _server(make_server, "undisturbed")
    async with kills.opened(server) as db:
        reference = await _reference(server, db, model)

    async def series(server: Any, db: Any, mine: list[Any]) -> Report:
        return await kills.at_points(server, db, model, reference, mine)

    points = [[point] for point in _of_lines(kills.points_of(reference.commits))]
    await _kill_in_lanes(make_server, model, points, series)


@pytest.mark.deep
@pytest.mark.timeout(3600)
async def test_pages_killed_at_random_times_end_as_if_nothing_had_happened(
    make_server: MakeServer, model: ModelServer
) -> None:
    server, seed = _server(make_server, "undisturbed"), kills.seed_of_this_run()
    async with kills.opened(server) as db:
        reference = await _reference(server, db, model)

    async def series(server: Any, db: Any, mine: list[int]) -> Report:
        return await kills.at_random_times(server, db, model, reference, mine)

    print(f"{SEED_VARIABLE}={seed}")
    await _kill_in_lanes(make_server, model, [seed + number for number in range(20)], series)


@pytest.mark.deep
@pytest.mark.timeout(3600)
@pytest.mark.postgres
async def test_the_same_on_postgresql(make_server: MakeServer, model: ModelServer, postgres_url: str) -> None:
    server, seed = (_server(make_server, "only", database=postgres_url, lease_s=1.5), kills.seed_of_this_run())
    async with kills.opened(server) as db:
        reference = await _reference(server, db, model)
        points = [[point] for point in _of_lines(kills.points_of(reference.commits))]
        report = await kills.at_points(server, db, model, reference, random.Random(seed).sample(points, 12))
    print(f"{SEED_VARIABLE}={seed}")
    _judge(report)

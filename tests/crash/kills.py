"""Kills, one after the other on a server that stays otherwise: what each leaves behind is compared with no kill."""

from __future__ import annotations

import difflib
import os
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import orjson

from outlast.db.database import Database
from outlast.testing.model_server import ModelServer
from tests.crash import outcome as outcomes
from tests.crash.crash_database import CrashPoint
from tests.crash.scenario import FILES, TURNS, Played, play
from tests.crash.server import CrashServer

MAX_WIDTH = 3  # runs at the same time in `at_random_times`
SEED_VARIABLE = "OUTLAST_TEST_SEED"
POINT_VARIABLE = "OUTLAST_TEST_POINT"  # only the named points whose name contains this
# How often these are committed depends on time, so a run may pass without the n-th of them.
BY_THE_CLOCK = re.compile(
    r"flush|nothing|claim|Watching\._write|Worker|renew|touch|free_lapsed|forget_node|done|set_timer"
    r"|step\.started"  # named with the last result of a step, or alone where a person's decision came last
    r"|add\[checkpoint\.created\]|mark_kept"
    r"|_take\.change"  # lines that come fast go together
    r"|SourceKeeper\.|VectorKeeper\."  # documentation is read every so often, whatever runs
    r"|take_over"  # at a start, perhaps while the first run begins
    r"|part\.completed"  # a part that a save has ended already needs no second word
)
OWNER = "in_write_with_services.action.λ"  # the local owner is the first that a start writes so
AT_START = ("migrate.λ", OWNER, "free_lapsed", "forget_node", "Worker._claim.run")


@dataclass
class Reference:
    """The undisturbed run: what it left behind, its commits in order, and how long it took."""

    outcome: dict[str, Any]
    commits: list[str]
    seconds: float


@dataclass
class Report:
    """What a series of kills showed."""

    done: int = 0
    kills: int = 0
    not_reached: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        unreached = f", not reached: {', '.join(self.not_reached)}" if self.not_reached else ""
        return f"{self.done} disturbed runs, {self.kills} kills{unreached}"


@asynccontextmanager
async def opened(server: CrashServer) -> AsyncIterator[Database]:
    """The server running, and its database beside it."""
    async with server:
        db = server.open_database()
        try:
            yield db
        finally:
            with anyio.CancelScope(shield=True):
                await db.aclose()


async def undisturbed(
    server: CrashServer, db: Database, model: ModelServer, files: dict[str, str] | None = None
) -> Reference:
    """Play the scenario without a kill. `files`: what it leaves (None: what the usual turns do)."""
    before, began = len(server.commits()), anyio.current_time()
    played = await play(server)
    seconds = anyio.current_time() - began
    commits = server.commits()[before:]
    outcome = await outcomes.outcome_of(server, db, played)
    assert outcome["run"]["status"] == "completed", outcome["run"]
    assert outcome["files"] == (FILES if files is None else files), outcome["journal"]
    await check(server, db, model, played, kills=0)
    await outcomes.kill_sandbox(server, db, played)
    return Reference(outcome, commits, seconds)


async def check(server: CrashServer, db: Database, model: ModelServer, played: Played, kills: int) -> None:
    """What must hold for any run that has ended, killed or not."""
    await outcomes.check_followed(db, played)
    outcomes.check_no_finished_step_again(played)
    await outcomes.check_ledger(db)
    await outcomes.check_no_leaks(server, db)
    asked = sum(played.marker.encode() in orjson.dumps(request.body) for request in model.requests)
    assert asked <= len(server.turns or TURNS) + kills * server.at_once, (
        f"the model was asked {asked} times: a finished turn was asked again"
    )


async def compare(
    server: CrashServer, db: Database, model: ModelServer, reference: Reference, played: Played, kills: int
) -> None:
    found = await outcomes.outcome_of(server, db, played)
    if found != reference.outcome:
        before, after = (orjson.dumps(o, option=orjson.OPT_INDENT_2).decode() for o in (reference.outcome, found))
        difference = difflib.unified_diff(before.splitlines(), after.splitlines(), "undisturbed", "killed", n=2)
        raise AssertionError("\n".join(difference))
    await check(server, db, model, played, kills)
    await outcomes.kill_sandbox(server, db, played)


def points_of(commits: Sequence[str]) -> list[CrashPoint]:
    """Both sides of every commit, each named by its label and how often that has come."""
    seen: Counter[str] = Counter()
    points = []
    for label in commits:
        seen[label] += 1
        points += [CrashPoint(label, seen[label], "before"), CrashPoint(label, seen[label], "after")]
    return points


async def at_points(
    server: CrashServer, db: Database, model: ModelServer, reference: Reference, points: Sequence[list[CrashPoint]]
) -> Report:
    """One run for each entry: killed at its first point; at each start after that, the next is armed."""
    report = Report()
    for first, *then in points:
        name = " then ".join(str(point) for point in (first, *then))
        starts = server.starts
        server.then = list(then)
        server.arm(first)
        try:
            played = await play(server)
            kills = server.starts - starts
            await compare(server, db, model, reference, played, kills)
            report.kills += kills
            print(f"killed {name}: {kills} kills, the same", flush=True)
            if kills <= len(then):
                report.not_reached.append(name)
        except Exception as problem:  # the next points are still worth trying
            report.problems.append(f"killed {name}:\n{_told(problem)}")
            print(f"FAILED {report.problems[-1]}", flush=True)
            await _settle(server)
        finally:
            server.point_file.unlink(missing_ok=True)
            server.then = []
        report.done += 1
    return report


async def at_random_times(
    server: CrashServer, db: Database, model: ModelServer, reference: Reference, seeds: Sequence[int]
) -> Report:
    """For each seed: a few runs at the same time, and one to three kills at times that the seed gives."""
    report = Report()
    for seed in seeds:
        chance = random.Random(seed)
        width = chance.randint(1, MAX_WIDTH)
        starts = server.starts
        try:
            plays: list[Played] = []

            async def one(delay_s: float, plays: list[Played] = plays) -> None:
                await anyio.sleep(delay_s)
                plays.append(await play(server))

            async with anyio.create_task_group() as group:
                for _ in range(width):
                    group.start_soon(one, chance.uniform(0, 0.3))
                for _ in range(chance.choice((1, 1, 2, 3))):
                    await anyio.sleep(chance.uniform(0, reference.seconds * 0.9))
                    await server.kill()
                    await server.revive()
            kills = server.starts - starts
            for played in plays:
                await compare(server, db, model, reference, played, kills)
            report.kills += kills
            print(f"seed {seed}: {kills} kills, {width} runs, the same", flush=True)
        except Exception as problem:
            report.problems.append(f"seed {seed}:\n{_told(problem)}")
            print(f"FAILED {report.problems[-1]}", flush=True)
            await _settle(server)
        report.done += width
    return report


async def _settle(server: CrashServer) -> None:
    """After a problem: begin the next try with a living server and without old sandboxes."""
    await server.revive()
    await server.end_sandboxes()


def _told(problem: BaseException) -> str:
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return f"{type(problem).__name__}: {problem}"[:6000]


Series = Callable[[CrashServer, Database, list[Any]], Awaitable[Report]]


async def in_lanes(servers: Sequence[CrashServer], work: Sequence[Any], series: Series) -> Report:
    """Share the work out among several servers that run at the same time."""
    total = Report()

    async def lane(server: CrashServer, mine: list[Any]) -> None:
        async with opened(server) as db:
            report = await series(server, db, mine)
        total.done += report.done
        total.kills += report.kills
        total.not_reached += report.not_reached
        total.problems += report.problems

    async with anyio.create_task_group() as group:
        for number, server in enumerate(servers):
            group.start_soon(lane, server, list(work[number :: len(servers)]))
    return total


def seed_of_this_run() -> int:
    """From the environment, to repeat a failure; else a new one."""
    given = os.environ.get(SEED_VARIABLE)
    return int(given) if given else random.SystemRandom().randrange(1 << 31)

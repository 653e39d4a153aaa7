"""Growth: the cost of new work as stored data grows: events in one thread, threads, and runs waiting for a user.

At each size, a new server is measured: CPU per event of new answers, the time until a start is answered, until a
follower that lost its connection has caught up, and until a page of the list that grew is read. `python -m bench plot`
draws the last stored figures.
"""

import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import anyio

from bench.client import Api, Tally, now_ms, percentile
from bench.figures import Figure
from bench.model_server import order
from bench.rig import Rig, wait_for_all
from bench.seed import Seeder
from bench.servers import model_server, server
from bench.workloads.parked import park

RESULTS: Final = Path(__file__).parents[1] / "results" / "growth.json"
TOKENS: Final = 2000
PAGE: Final = 50
MEASURED: Final = ("CPU per event", "start answered", "caught up again", "page of a list read")
UNITS: Final = ("µs", "ms", "ms", "ms")


@dataclass(frozen=True, slots=True)
class Point:
    """The cost of new work with `size` of something stored: medians in the order of `MEASURED` and `UNITS`."""

    size: int
    costs: tuple[float, float, float, float]


async def measure(quick: bool) -> list[Figure]:
    events = [1_000, 10_000, 100_000] if quick else [1_000, 100_000, 10_000_000]
    threads = [100, 1_000] if quick else [1_000, 100_000]
    parked = [0, 200] if quick else [0, 10_000]
    curves = {
        "events in the thread": await _beside_events(events, quick),
        "threads": await _beside_threads(threads, quick),
        "runs waiting for a user": await _beside_parked(parked, quick),
    }
    if not quick:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps({name: [asdict(point) for point in curve] for name, curve in curves.items()}))
    return [figure for name, curve in curves.items() for figure in _figures(name, curve)]


def _figures(name: str, curve: list[Point]) -> list[Figure]:
    named = [
        Figure(f"{point.size:,} {name}: {what}", point.costs[number], UNITS[number])
        for number, what in enumerate(MEASURED)
        for point in curve
    ]
    ratio = curve[-1].costs[0] / curve[0].costs[0]
    return [*named, Figure(f"{name}: CPU per event, most to fewest", ratio, "times", 1.1)]


async def _beside_events(sizes: list[int], quick: bool) -> list[Point]:
    """New answers in threads with these numbers of events, in turn, so that the machine's load affects all of them."""
    async with _prepared() as (model_port, folder):
        with Seeder(folder / "data") as seeder:
            ids = {size: seeder.thread_with(size) for size in sizes}
        async with server("outlast", model_port, folder) as process:
            rig = Rig(process, Api(process.port), quick)
            places = {size: (f"/v1/threads/{i}/runs", f"/v1/threads/{i}/messages") for size, i in ids.items()}
            return await _in_turns(rig, places)


async def _beside_threads(sizes: list[int], quick: bool) -> list[Point]:
    points, have = [], 0
    async with _prepared() as (model_port, folder):
        for size in sizes:
            with Seeder(folder / "data") as seeder:
                seeder.threads(size - have)
            have = size
            async with server("outlast", model_port, folder) as process:
                rig = Rig(process, Api(process.port), quick)
                points += await _in_turns(rig, {size: ("/v1/runs", f"/v1/projects/{await _project(rig)}/threads")})
    return points


async def _beside_parked(sizes: list[int], quick: bool) -> list[Point]:
    points, have = [], 0
    async with _prepared() as (model_port, folder), server("outlast", model_port, folder, sandboxes=False) as process:
        rig = Rig(process, Api(process.port), quick)
        for size in sizes:
            await park(rig, size - have)
            have = size
            points += await _in_turns(rig, {size: ("/v1/runs", "/v1/runs?status=awaiting_approval")})
    return points


@asynccontextmanager
async def _prepared() -> AsyncIterator[tuple[int, Path]]:
    """A model server's port, and a folder with an empty, migrated database with its owner."""
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as name:
        async with model_server() as model_port:
            async with server("outlast", model_port, Path(name)) as process:
                await Api(process.port).call("GET", "/v1/me")
            yield model_port, Path(name)


async def _project(rig: Rig) -> str:
    return str((await rig.api.call("GET", "/v1/projects"))["items"][0]["id"])


async def _in_turns(rig: Rig, places: dict[int, tuple[str, str]]) -> list[Point]:
    """A point for each size: new work is sent to the first path, the list is at the second."""
    rounds = 2 if rig.quick else 8
    measures: list[Callable[[Rig, str, str], Awaitable[list[float]]]] = [_answers, _starts, _resumes, _pages]
    seen: dict[int, list[list[float]]] = {size: [[] for _ in measures] for size in places}
    for number in range(rounds + 1):
        for size, (work, listed) in places.items():
            for column, one in zip(seen[size], measures, strict=True):
                values = await one(rig, work, listed)
                column.extend(values if number else ())  # the first round warms up
    medians = {size: [percentile(column, 0.5) for column in columns] for size, columns in seen.items()}
    return [Point(size, (cpu, start, resume, page)) for size, (cpu, start, resume, page) in medians.items()]


async def _run(rig: Rig, path: str, content: str) -> str:
    answer = await rig.api.call("POST", path, {"content": content})
    return str(answer["run_id"])


async def _answers(rig: Rig, work: str, _listed: str) -> list[float]:
    """CPU time in µs per event of three answers of 2,000 tokens."""
    cpu = rig.server.cpu_s()
    for _ in range(3):
        follower = await rig.follow(await _run(rig, work, order(TOKENS, first_ms=30)), Tally())
        await wait_for_all([follower], 20)
    return [(rig.server.cpu_s() - cpu) * 1e6 / (3 * TOKENS)]


async def _starts(rig: Rig, work: str, _listed: str) -> list[float]:
    """The response times of ten starts of one token, in ms; each run ends before the next start."""
    times = []
    for _ in range(10):
        began = now_ms()
        run_id = await _run(rig, work, order(1))
        times.append(now_ms() - began)
        await wait_for_all([await rig.follow(run_id, Tally())], 20)
        await anyio.sleep(0.01)
    return times


async def _resumes(rig: Rig, work: str, _listed: str) -> list[float]:
    """The times from reconnecting to the first missed token, in ms, ten times within one answer."""
    follower = await rig.follow(await _run(rig, work, order(100, 100, first_ms=50)), Tally())
    times = []
    for _ in range(10):
        await follower.first_token()
        follower.drop()
        await anyio.sleep(0.04)
        began = now_ms()
        await follower.resume()
        await follower.first_token()
        times.append(follower.first_ns / 1e6 - began)
    await wait_for_all([follower], 20)
    return times


async def _pages(rig: Rig, _work: str, listed: str) -> list[float]:
    """The response times of ten pages of the list, in ms."""
    times = []
    for _ in range(10):
        began = now_ms()
        await rig.api.call("GET", f"{listed}{'&' if '?' in listed else '?'}limit={PAGE}")
        times.append(now_ms() - began)
    return times

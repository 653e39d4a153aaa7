"""Retention: the disk space of a run, and the response times of starts while records of many old runs are removed."""

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import anyio

from bench.client import Api, Tally, now_ms, percentile
from bench.figures import Figure
from bench.model_server import order
from bench.rig import Rig, wait_for_all
from bench.seed import Seeder
from bench.servers import model_server, server

EVENTS_A_RUN = 500
A_SECOND = 20


async def measure(quick: bool) -> list[Figure]:
    old, short, long = (500, 40, 4) if quick else (20_000, 400, 40)
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        async with model_server() as model_port:
            async with server("outlast", model_port, folder) as process:
                rig = Rig(process, Api(process.port), quick)
                await _runs(rig, 20, 10)  # warms up
                figures = [
                    Figure("disk per run of 10 tokens", await _disk_of(rig, short, 10), "KB"),
                    Figure("disk per run of 2,000 tokens", await _disk_of(rig, long, 2000), "KB"),
                ]
                before = await _starts(rig.api, 100 if quick else 300)
            with Seeder(folder / "data") as seeder:
                seeder.old_runs(old, EVENTS_A_RUN)
            full = _used_bytes(folder)
            async with server("outlast", model_port, folder) as process:
                rig = Rig(process, Api(process.port), quick)
                await rig.api.start(order(1))  # the first call waits for the API to load
                began, cpu, meanwhile = now_ms(), process.cpu_s(), []
                while _waiting(folder):
                    meanwhile += await _starts(rig.api, 20)
                seconds, cpu_s = (now_ms() - began) / 1e3, process.cpu_s() - cpu
            freed = full - _used_bytes(folder)
    return [
        *figures,
        Figure(f"{old:,} old runs cleaned", seconds, "s"),
        Figure("CPU per cleaned run, including starts", cpu_s * 1e3 / old, "ms"),
        Figure("disk freed per cleaned run", freed / old / 1024, "KB"),
        Figure("start answered p50, before", percentile(before, 0.5), "ms"),
        Figure("start answered p50, while they are cleaned", percentile(meanwhile, 0.5), "ms"),
        Figure("start answered p99, before", percentile(before, 0.99), "ms"),
        Figure("start answered p99, while they are cleaned", percentile(meanwhile, 0.99), "ms"),
    ]


async def _runs(rig: Rig, count: int, tokens: int) -> None:
    """Runs one after the other, each followed to its end."""
    for _ in range(count):
        await wait_for_all([await rig.follow(await rig.api.start(order(tokens)), Tally())], 20)


async def _disk_of(rig: Rig, count: int, tokens: int) -> float:
    """The database size of a run in KB, in a new thread, before its deltas are folded."""
    before = _used_bytes(rig.server.directory)
    await _runs(rig, count, tokens)
    await anyio.sleep(1)
    return (_used_bytes(rig.server.directory) - before) / count / 1024


async def _starts(api: Api, count: int) -> list[float]:
    """The response times of starts, in ms."""
    times = []
    for _ in range(count):
        began = now_ms()
        await api.start(order(1))
        times.append(now_ms() - began)
        await anyio.sleep(1 / A_SECOND)
    return times


def _used_bytes(folder: Path) -> int:
    """The used size of the database. Its file does not shrink: later runs reuse free pages."""
    with _database(folder) as database:
        pages, free, size = (
            database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
    return int((pages - free) * size)


def _waiting(folder: Path) -> bool:
    """True if records of a run are still due for removal."""
    with _database(folder) as database:
        query = "SELECT 1 FROM timers WHERE kind = 'clean_up' AND due_at <= unixepoch() * 1000000 LIMIT 1"
        return database.execute(query).fetchone() is not None


@contextmanager
def _database(folder: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"file:{folder / 'data' / 'outlast.db'}?mode=ro", uri=True)) as database:
        yield database

"""Growth: does what is stored make new work dearer? 10 to 1,000,000 events in the thread, 10 to 100,000 threads."""

import tempfile
from pathlib import Path

import anyio

from bench.client import Api, Tally, now_ms, percentile
from bench.figures import Figure
from bench.model_server import order
from bench.rig import Rig, wait_for_all
from bench.seed import Seeder
from bench.servers import model_server, server

TOKENS = 2000


async def measure(quick: bool) -> list[Figure]:
    events = [10, 10_000, 100_000] if quick else [10, 10_000, 1_000_000]
    threads = [10, 1_000, 10_000] if quick else [10, 10_000, 100_000]
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
        figures = await _events(Path(folder), events, 4 if quick else 12)
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
        return figures + await _threads(Path(folder), threads, 40 if quick else 150)


async def _events(folder: Path, sizes: list[int], rounds: int) -> list[Figure]:
    """CPU per event of new answers, in turns between the threads, so that all meet the same machine."""
    async with model_server() as model_port:
        async with server("outlast", model_port, folder) as process:
            await Api(process.port).call("GET", "/v1/me")
        with Seeder(folder / "data") as seeder:
            ids = {size: seeder.thread_with(size) for size in sizes}
        async with server("outlast", model_port, folder) as process:
            rig = Rig(process, Api(process.port), quick=False)
            costs: dict[int, list[float]] = {size: [] for size in sizes}
            for _ in range(rounds):
                for size, thread_id in ids.items():
                    costs[size].append(await _answer(rig, thread_id))
    medians = [percentile(costs[size], 0.5) for size in sizes]
    named = [
        Figure(f"CPU per event, {size:,} events in the thread", cost, "µs")
        for size, cost in zip(sizes, medians, strict=True)
    ]
    return [*named, Figure("largest beside smallest", medians[-1] / medians[0], "times", 1.1)]


async def _answer(rig: Rig, thread_id: str) -> float:
    """CPU in µs per event of five answers of 2,000 tokens in this thread."""
    cpu = rig.server.cpu_s()
    for _ in range(5):
        content = {"content": order(TOKENS, first_ms=30)}
        answer = await rig.api.call("POST", f"/v1/threads/{thread_id}/runs", content)
        follower = await rig.follow(answer["run_id"], Tally())
        await wait_for_all([follower], 20)
    return (rig.server.cpu_s() - cpu) * 1e6 / (5 * TOKENS)


async def _threads(folder: Path, sizes: list[int], starts: int) -> list[Figure]:
    """How long a start in a new thread takes, beside so many threads."""
    figures: list[Figure] = []
    have = 0
    async with model_server() as model_port:
        async with server("outlast", model_port, folder) as process:
            await Api(process.port).call("GET", "/v1/me")
        for size in sizes:
            with Seeder(folder / "data") as seeder:
                seeder.threads(size - have)
            have = size
            async with server("outlast", model_port, folder) as process:
                p50 = await _starts(Api(process.port), starts)
            figures.append(Figure(f"start p50, {size:,} threads", p50, "ms"))
    ratio = figures[-1].value / figures[0].value
    return [*figures, Figure("most beside fewest", ratio, "times", 1.1)]


async def _starts(api: Api, count: int) -> float:
    times = []
    for number in range(count + 20):
        began = now_ms()
        await api.start(order(1))
        if number >= 20:
            times.append(now_ms() - began)
        await anyio.sleep(0.02)
    return percentile(times, 0.5)

"""W4: starts of 10 tokens, each followed to its end: 50 a second, then 200. Outlast commits each before it answers."""

from dataclasses import dataclass, field

import anyio

from bench.client import Follower, Refused, Tally, now_ms, percentile
from bench.figures import Figure
from bench.model_server import order
from bench.rig import Rig, wait_for_all

TOKENS = 10


@dataclass(slots=True)
class Starts:
    """Times in ms from the request to the response and to the first token; unfinished runs; CPU time in ms per run."""

    answered: list[float] = field(default_factory=list)
    begun: list[float] = field(default_factory=list)
    unfinished: int = 0
    cpu_ms: float = 0.0


async def measure(rig: Rig) -> list[Figure]:
    seconds = 2 if rig.quick else 5
    await _start(rig, 20, 20)  # warms up
    slow = await _start(rig, 50, 50 * seconds)
    fast = await _start(rig, 200, 200 * seconds)
    return [
        Figure("50 a second: answered p50", percentile(slow.answered, 0.5), "ms"),
        Figure("50 a second: answered p99", percentile(slow.answered, 0.99), "ms"),
        Figure("50 a second: first token p50", percentile(slow.begun, 0.5), "ms"),
        Figure("50 a second: CPU per run", slow.cpu_ms, "ms"),
        Figure("200 a second: answered p50", percentile(fast.answered, 0.5), "ms"),
        Figure("200 a second: answered p99", percentile(fast.answered, 0.99), "ms", 20),
        Figure("200 a second: first token p50", percentile(fast.begun, 0.5), "ms"),
        Figure("200 a second: CPU per run", fast.cpu_ms, "ms"),
        Figure("runs not finished", slow.unfinished + fast.unfinished, f"of {250 * seconds}", 0),
    ]


async def _start(rig: Rig, a_second: int, count: int) -> Starts:
    result, tally = Starts(), Tally()
    followers: list[Follower] = []

    async def one(number: int) -> None:
        await anyio.sleep_until(began + number / a_second)
        asked = now_ms()
        try:
            run_id = await rig.api.start(order(TOKENS))
            result.answered.append(now_ms() - asked)
            follower = await rig.follow(run_id, tally)
            followers.append(follower)
            await follower.first_token()
        except Refused:  # the server is full; the run counts as not finished
            return
        result.begun.append(now_ms() - asked)

    began = anyio.current_time() + 0.2
    cpu = rig.server.cpu_s()
    with anyio.move_on_after(count / a_second + 10):
        async with anyio.create_task_group() as tasks:
            for number in range(count):
                tasks.start_soon(one, number)
    result.unfinished = count - await wait_for_all(followers, 5)
    result.cpu_ms = (rig.server.cpu_s() - cpu) * 1e3 / count
    return result

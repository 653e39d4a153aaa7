"""An agent of one's own beside the chat agent, runs of 10 tokens in turn; then a flow of many steps."""

import re

import anyio

from bench.client import Follower, Tally, percentile
from bench.figures import Figure
from bench.model_server import order
from bench.rig import Rig, wait_for_all

A_SECOND = 50
ROUNDS = 5
OWN_GOAL = 1.05
STEP_GOAL_MS = 1.5
_ANSWER = re.compile(rb'"text": ?"([\d.]+) ([\d.]+)"')


async def measure(rig: Rig) -> list[Figure]:
    count = A_SECOND if rig.quick else 4 * A_SECOND
    await _cpu_ms(rig, "chat", 20)  # warms up
    await _cpu_ms(rig, "own", 20)
    chat, own = [], []
    for _ in range(ROUNDS):  # in turn: a slow minute affects both
        chat.append(await _cpu_ms(rig, "chat", count))
        own.append(await _cpu_ms(rig, "own", count))
    steps = 1_000 if rig.quick else 10_000
    step_ms, replay_ms = await _flow(rig, steps)
    return [
        Figure("chat run: CPU", percentile(chat, 0.5), "ms"),
        Figure("own agent's run: CPU", percentile(own, 0.5), "ms"),
        Figure("own agent / chat", percentile([b / a for a, b in zip(chat, own, strict=True)], 0.5), "×", OWN_GOAL),
        Figure("a journaled step p50", step_ms, "ms", STEP_GOAL_MS),
        Figure(f"replay of {steps:,} steps", replay_ms, "ms", 1000 * steps / 10_000),
    ]


async def _cpu_ms(rig: Rig, profile: str, count: int) -> float:
    """CPU time of the server for one run."""
    tally, followers = Tally(), list[Follower]()

    async def one(number: int) -> None:
        await anyio.sleep_until(began + number / A_SECOND)
        run_id = await rig.api.start(order(10), profile=profile)
        followers.append(await rig.follow(run_id, tally))

    began, cpu = anyio.current_time() + 0.1, rig.server.cpu_s()
    async with anyio.create_task_group() as tasks:
        for number in range(count):
            tasks.start_soon(one, number)
    await wait_for_all(followers, 10)
    return (rig.server.cpu_s() - cpu) * 1e3 / count


async def _flow(rig: Rig, steps: int) -> tuple[float, float]:
    """The median time of a step, and the time in which all were read again; NaN if the flow failed."""
    follower = await _ended(rig, steps)
    found = _ANSWER.search(follower.seen)
    return (float(found[1]), float(found[2])) if found else (float("nan"), float("nan"))


async def _ended(rig: Rig, steps: int) -> Follower:
    run_id = await rig.api.start(str(steps), profile="steps")
    follower = Follower(rig.server.port, run_id, Tally())
    follower.keep = True
    await follower.open()
    with anyio.move_on_after(180):
        await follower.ended.wait()
    return follower

"""Agents of one's own, as people write them, for the workload `agents`."""

import time
from statistics import median

from outlast import Agent, Context, flow

own = Agent("own", instructions="You are helpful. Be short.", description="Beside the chat agent")


def nothing(number: int) -> int:
    """The work of a step."""
    return number


@flow("steps", description="As many steps as the message says, and a call of the function again after them")
async def steps(ctx: Context) -> str:
    took: list[float] = []
    begun = time.perf_counter()
    for number in range(int(ctx.message)):
        before = time.perf_counter()
        await ctx.step("nothing", nothing, number)
        took.append(time.perf_counter() - before)
    replayed_s = time.perf_counter() - begun
    step_ms = await ctx.step("median", median, [seconds * 1e3 for seconds in took])
    if ctx.message != "1":  # the function is called again: all steps are read from the journal now
        await ctx.run("own", "bench tokens=1 rate=0 first_ms=0 tool=0")
    return f"{step_ms} {replayed_s * 1e3}"

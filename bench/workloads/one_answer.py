"""W1: one run with one follower, 2,000 tokens at once: the fastest stream of one answer."""

from bench.client import Tally, percentile
from bench.figures import Figure
from bench.model_server import order
from bench.rig import Rig, wait_for_all

TOKENS = 2000


async def measure(rig: Rig) -> list[Figure]:
    rates, costs = [], []
    for number in range(3 + (7 if rig.quick else 25)):
        tally = Tally()
        cpu = rig.server.cpu_s()
        run_id = await rig.api.start(order(TOKENS, first_ms=50))
        follower = await rig.follow(run_id, tally)
        await wait_for_all([follower], 20)
        if number >= 3:  # the first ones warm up
            rates.append(tally.tokens * 1e9 / max(follower.last_ns - follower.sent_first_ns, 1))
            costs.append((rig.server.cpu_s() - cpu) * 1e6 / TOKENS)
    return [
        Figure("events a second, one follower", percentile(rates, 0.5), "1/s", 20_000, more_is_better=True),
        Figure("CPU per event, the run's start and end included", sum(costs) / len(costs), "µs"),
    ]

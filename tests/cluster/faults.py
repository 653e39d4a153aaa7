"""What is done to the cluster: each fault begins and ends, faults overlap, and a number gives all of them again.

rounds = plan(seed, count)
for strikes in rounds:
    await strike(rig, strikes)  # returns when all have ended
"""

from __future__ import annotations

import random
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import anyio

from tests.cluster.parts import flush_redis
from tests.cluster.rig import NODES, Rig

ROUND: Final = 4  # faults that overlap
SPREAD_S: Final = 3.0  # within which those of a round begin
STOP_S: Final = 30.0  # the longest that a process is stopped
SKEW_S: Final = 20.0  # the most that a clock is off


class Fault(Protocol):
    """Begins and ends; `end` also where the end of the test comes first."""

    async def begin(self, rig: Rig) -> None: ...
    async def end(self, rig: Rig) -> None: ...


@dataclass(frozen=True)
class Kill:
    """A server dies without a word, and is started again."""

    node: int

    async def begin(self, rig: Rig) -> None:
        await rig.nodes[self.node].end()

    async def end(self, rig: Rig) -> None:
        await rig.nodes[self.node].start()


@dataclass(frozen=True)
class Stop:
    """A server stands still, as in a snapshot of its machine."""

    node: int

    async def begin(self, rig: Rig) -> None:
        rig.nodes[self.node].send(signal.SIGSTOP)

    async def end(self, rig: Rig) -> None:
        rig.nodes[self.node].send(signal.SIGCONT)


@dataclass(frozen=True)
class Cut:
    """What PostgreSQL sends to a server does not arrive (`INPUT`), or what the server sends to it (`OUTPUT`)."""

    node: int
    chain: str

    async def begin(self, rig: Rig) -> None:
        rig.nodes[self.node].machine.cut(rig.database, self.chain)

    async def end(self, rig: Rig) -> None:
        rig.nodes[self.node].machine.mend(rig.database, self.chain)


@dataclass(frozen=True)
class RestartPostgres:
    """It ends in order (`fast`) or at once (`immediate`), and is started again."""

    how: str

    async def begin(self, rig: Rig) -> None:
        if self.how == "fast":
            rig.postgres.stop()
        else:
            rig.postgres.crash()

    async def end(self, rig: Rig) -> None:
        rig.start_postgres()


@dataclass(frozen=True)
class FlushRedis:
    """All that it keeps is thrown away."""

    async def begin(self, rig: Rig) -> None:
        if rig.redis is not None:
            with anyio.move_on_after(2):
                try:
                    await flush_redis(rig.redis.machine)
                except OSError:  # it is gone as well
                    return

    async def end(self, rig: Rig) -> None:
        pass


@dataclass(frozen=True)
class RedisGone:
    """It is killed, and comes back empty."""

    async def begin(self, rig: Rig) -> None:
        if rig.redis is not None:
            await rig.redis.end()

    async def end(self, rig: Rig) -> None:
        if rig.redis is not None:
            await rig.redis.start()


@dataclass(frozen=True)
class BrokenS3:
    """It answers everything with 500."""

    async def begin(self, rig: Rig) -> None:
        if rig.s3_door is not None:
            rig.s3_door.is_broken = True

    async def end(self, rig: Rig) -> None:
        if rig.s3_door is not None:
            rig.s3_door.is_broken = False


@dataclass(frozen=True)
class Skew:
    """A server's clock is off; what measures durations there is right."""

    node: int
    ahead_s: float

    async def begin(self, rig: Rig) -> None:
        rig.nodes[self.node].set_clock(self.ahead_s)

    async def end(self, rig: Rig) -> None:
        rig.nodes[self.node].set_clock(0)


@dataclass(frozen=True)
class FullDisk:
    """Not one byte is left on the disk of a server's own data."""

    node: int

    async def begin(self, rig: Rig) -> None:
        rig.nodes[self.node].fill_disk()

    async def end(self, rig: Rig) -> None:
        rig.nodes[self.node].free_disk()


@dataclass(frozen=True)
class Strike:
    """A fault, when in its round it begins, and how long it lasts (seconds)."""

    at_s: float
    lasts_s: float
    fault: Fault

    def __str__(self) -> str:
        return f"{self.at_s:.1f}+{self.lasts_s:.1f} s {self.fault}"


KINDS: Final = (
    "kill",
    "stop",
    "cut-in",
    "cut-out",
    "postgres-fast",
    "postgres-immediate",
    "redis-flushed",
    "redis-gone",
    "s3-broken",
    "skew",
    "disk-full",
)
OF_A_NODE: Final = frozenset({"kill", "stop", "cut-in", "cut-out", "skew", "disk-full"})
OF_THE_DATABASE: Final = frozenset({"postgres-fast", "postgres-immediate"})


def plan(seed: int, count: int, *, longest_stop_s: float = STOP_S) -> list[list[Strike]]:
    """So many faults, in rounds; all kinds come once before one comes again. In a round no server is struck by two
    faults, for one would undo the other, and PostgreSQL is struck once."""
    chance = random.Random(f"faults {seed}")
    waiting: list[str] = []
    rounds: list[list[Strike]] = []
    left = count
    while left > 0:
        strikes: list[Strike] = []
        nodes = chance.sample(range(NODES), NODES)
        has_database = False
        for _ in range(min(ROUND, left)):
            waiting = waiting or chance.sample(KINDS, len(KINDS))
            fitting = [
                kind
                for kind in waiting
                if (nodes or kind not in OF_A_NODE) and not (has_database and kind in OF_THE_DATABASE)
            ]
            if not fitting:
                break
            waiting.remove(fitting[0])
            has_database = has_database or fitting[0] in OF_THE_DATABASE
            strikes.append(_strike(chance, fitting[0], nodes, longest_stop_s))
        left -= len(strikes)
        rounds.append(strikes)
    return rounds


def _strike(chance: random.Random, kind: str, nodes: list[int], longest_stop_s: float) -> Strike:
    node = nodes.pop() if kind in OF_A_NODE else -1
    longest = {"stop": longest_stop_s, "kill": 4.0, "postgres-fast": 2.0, "postgres-immediate": 2.0}.get(kind, 8.0)
    ahead_s = chance.choice((-1, 1)) * chance.uniform(SKEW_S / 4, SKEW_S)
    made: dict[str, Fault] = {
        "kill": Kill(node),
        "stop": Stop(node),
        "cut-in": Cut(node, "INPUT"),
        "cut-out": Cut(node, "OUTPUT"),
        "postgres-fast": RestartPostgres("fast"),
        "postgres-immediate": RestartPostgres("immediate"),
        "redis-flushed": FlushRedis(),
        "redis-gone": RedisGone(),
        "s3-broken": BrokenS3(),
        "skew": Skew(node, round(ahead_s, 1)),
        "disk-full": FullDisk(node),
    }
    return Strike(round(chance.uniform(0, SPREAD_S), 2), round(chance.uniform(longest / 4, longest), 2), made[kind])


async def strike(rig: Rig, strikes: Sequence[Strike]) -> None:
    """A round: begin each fault at its time, end it at its end. Cancelled it ends those that have begun."""
    async with anyio.create_task_group() as group:
        for one in strikes:
            group.start_soon(_strike_once, rig, one)


async def _strike_once(rig: Rig, one: Strike) -> None:
    await anyio.sleep(one.at_s)
    try:
        await one.fault.begin(rig)
        await anyio.sleep(one.lasts_s)
    finally:
        with anyio.CancelScope(shield=True):
            await one.fault.end(rig)

"""Whatever a part raises, at any of its calls: the server lives, other runs end exactly as without it, and the next
server finds nothing stuck."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, product
from pathlib import Path

import anyio
import pytest

from outlast.base.errors import StorageUnavailable
from outlast.base.supervision.causes import cause_of
from tests.faults import KINDS
from tests.flow.chaos.house import CAPABILITIES, PARTS, SCENES, House, Played, settings_of
from tests.flow.chaos.machines import ServingProvider

pytestmark = pytest.mark.timeout(600)
FEW = {"sqlite": 2, "postgresql": 1}
"""How many calls of a part are chosen where not all are; a play takes longer on PostgreSQL."""
ENDS = ("completed", "error", "ready", "failed")
OUTSIDE = ("database", "provider", "blobs")
"""What a start may find out of order."""
TWO_SIDED = (*OUTSIDE, "hub")
"""What is done there may stay done although the answer was lost."""
AWAY = "away"
ALL_KINDS = {**KINDS, AWAY: lambda: StorageUnavailable("The database is away.", retry_after_s=0.1)}
ROUNDS = {**{f"round{shift}": [*KINDS][shift:] + [*KINDS][:shift] for shift in range(len(KINDS))}, AWAY: [AWAY]}
"""The kinds that the calls get in turn; in all rounds together every call gets every kind."""
EVERY = [
    (part, round_, after)
    for part, round_ in product(PARTS, ROUNDS)
    for after in ((False, True) if part in TWO_SIDED else (False,))
    if round_ != AWAY or part == "database"
]


@pytest.fixture(params=SCENES)
def scene(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def house(scene: str, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    async with ServingProvider(capabilities=CAPABILITIES) as provider:
        folder = tmp_path / "data"
        made = House(settings_of(folder, database_url), folder, provider, monkeypatch, scene)
        made.fit()
        yield made


def sampled(most: int, samples: int) -> list[int]:
    """Numbers from 1 to `most`, each in the middle of its share."""
    return sorted({1 + most * (2 * step + 1) // (2 * samples) for step in range(min(samples, most))})


@dataclass(frozen=True)
class Fault:
    part: str
    nth: int
    kind: str
    after: bool

    def __str__(self) -> str:
        return f"{self.kind} {'after' if self.after else 'at'} call {self.nth} of {self.part}"


async def play_each(house: House, choose: Callable[[House], Iterable[Fault]]) -> list[str]:
    """One play for each of the chosen faults, on one server, then a restart on what is left. What went wrong. `choose`
    is asked after a play without a fault."""
    problems: list[str] = []
    async with house.served():
        await house.play()  # the first one opens what is opened once
        house.faults.disarm()
        reference = await house.play()
        for fault in choose(house):
            house.faults.arm(fault.part, fault.nth, ALL_KINDS[fault.kind], after=fault.after)
            began = anyio.current_time()
            found, failed = await played(house)
            house.faults.disarm()
            took_s = anyio.current_time() - began
            felt = [run for kind, run in found.items() if run.exact != reference[kind].exact]
            print(f"{took_s:.1f} s: {fault} ({house.faults.fired})", *felt, *failed, flush=True)
            problems += failed or wrong(fault, felt)
        await house.until_rest()
        assert (await house.play()).keys() == reference.keys()
    async with house.served():
        found = await house.play()
        await house.until_rest()
    felt = [run for kind, run in found.items() if run.exact != reference[kind].exact]
    problems += [f"after the restart: {run}" for run in felt]
    await house.check_rest()
    return problems


async def played(house: House) -> tuple[dict[str, Played], list[str]]:
    """What came of each piece of work; where it came to nothing, why."""
    try:
        return await house.play(), []
    except (AssertionError, TimeoutError, ExceptionGroup) as error:
        assert not house.program.ended.is_set(), "the server has ended"
        return {}, [f"{house.faults.fired}: {cause_of(error)!r}"]


def wrong(fault: Fault, felt: Sequence[Played]) -> list[str]:
    """What one fault may not do: reach more than one run, or leave that without an end. A database that is away for a
    moment reaches none."""
    allowed = 0 if fault.kind == AWAY else 1
    if len(felt) > allowed or any(run.status not in ENDS for run in felt):
        return [f"{fault}: {felt}"]
    return []


async def test_parts_that_fail_at_some_of_their_calls_cost_one_run_at_most(house: House) -> None:
    def choose(house: House) -> list[Fault]:
        kinds, sides = cycle(KINDS), cycle((False, True, True, False))
        calls = {part: house.faults.calls(part) for part in PARTS}
        away = [Fault("database", nth, AWAY, next(sides)) for nth in sampled(calls["database"], 1)]
        few = FEW[house.settings.database.url.reveal().split(":")[0]]
        return away + [
            Fault(part, nth, next(kinds), next(sides) and part in TWO_SIDED)
            for part in PARTS
            for nth in sampled(calls[part], few)
        ]

    assert await play_each(house, choose) == []


@pytest.mark.deep
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("part", "kinds", "after"), EVERY, ids=str)
async def test_a_part_that_fails_at_any_of_its_calls_costs_one_run_at_most(
    house: House, part: str, kinds: str, after: bool
) -> None:
    def choose(house: House) -> Iterator[Fault]:
        for nth, kind in enumerate(cycle(ROUNDS[kinds]), 1):
            yield Fault(part, nth, kind, after)
            if house.faults.fired is None:
                return

    assert await play_each(house, choose) == []


async def start_with(house: House, fault: Fault) -> list[str]:
    """Start a server on what an earlier one has left, with a fault in it; then one without. What went wrong."""
    house.faults.arm(fault.part, fault.nth, ALL_KINDS[fault.kind], after=fault.after)
    problems: list[str] = []
    try:
        async with house.served():
            await house.until_rest()
    except ExceptionGroup as error:
        cause = cause_of(error)
        print(f"{fault} ({house.faults.fired}): {cause!r}", flush=True)
        if fault.part != "database":
            problems.append(f"{fault} ({house.faults.fired}): the start was refused: {cause!r}")
    house.faults.disarm()
    return problems


async def calls_of_a_start(house: House) -> dict[str, int]:
    """How often a server calls each part while it starts on what an earlier one has left."""
    async with house.served():
        await house.play()
    house.faults.disarm()
    async with house.served():
        return {part: house.faults.calls(part) for part in OUTSIDE}


async def check_start(house: House, faults: Iterable[Fault]) -> None:
    problems: list[str] = []
    for fault in faults:
        problems += await start_with(house, fault)
    async with house.served():
        found = await house.play()
        await house.until_rest()
    assert {run.status for run in found.values()} <= {"completed", "ready"}
    await house.check_rest()
    assert problems == []


@pytest.mark.parametrize("scene", ["subjects"])
async def test_a_fault_while_a_server_starts_keeps_no_other_from_starting(house: House) -> None:
    """Only the database may refuse a start."""
    calls = await calls_of_a_start(house)
    kinds = cycle(KINDS)
    faults = [
        Fault(part, nth, next(kinds), False) for part in ("database", "provider") for nth in sampled(calls[part], 3)
    ]
    await check_start(house, faults)


@pytest.mark.deep
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("kind", KINDS)
async def test_any_fault_while_a_server_starts_keeps_no_other_from_starting(house: House, kind: str) -> None:
    calls = await calls_of_a_start(house)
    every = [Fault(part, nth, kind, False) for part in OUTSIDE for nth in range(1, calls[part] + 1)]
    await check_start(house, every)

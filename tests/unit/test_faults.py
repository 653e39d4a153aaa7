"""The n-th call raises, whatever kind of call it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from tests.faults import KINDS, Faults


class Part:
    """Something that services are given."""

    dialect = "plain"

    def __init__(self) -> None:
        self.done: list[str] = []
        self.closed = 0

    def put(self, name: str) -> str:
        self.done.append(name)
        return name

    async def write(self, name: str) -> str:
        self.done.append(name)
        return name

    async def items(self) -> AsyncIterator[int]:
        try:
            for number in range(3):
                yield number
        finally:
            self.closed += 1

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[AsyncIterator[int]]:
        yield self.items()

    async def create(self) -> Part:
        return Part()

    async def aclose(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("kind", list(KINDS))
async def test_the_armed_call_raises_once_and_those_around_it_go_through(kind: str) -> None:
    faults, part = Faults(), Part()
    wrapped = faults.wrap("part", part)
    faults.arm("part", 2, KINDS[kind])
    assert wrapped.put("a") == "a"
    with pytest.raises(type(KINDS[kind]())):
        await wrapped.write("b")
    assert await wrapped.write("c") == "c"
    assert (part.done, faults.fired, faults.calls("part")) == (["a", "c"], "part.write", 3)


async def test_a_fault_after_the_call_leaves_what_it_has_done() -> None:
    faults, part = Faults(), Part()
    wrapped = faults.wrap("part", part)
    faults.arm("part", 1, KINDS["os"], after=True)
    with pytest.raises(OSError, match="Input/output error"):
        await wrapped.write("a")
    faults.arm("part", 1, KINDS["os"], after=True)
    with pytest.raises(OSError, match="Input/output error"):
        wrapped.put("b")
    assert part.done == ["a", "b"]


@pytest.mark.parametrize(("nth", "seen"), [(2, []), (3, []), (5, [0]), (6, [0, 1]), (7, [0, 1, 2])])
async def test_items_and_the_entering_of_a_context_are_calls_and_closing_is_none(nth: int, seen: list[int]) -> None:
    faults, part = Faults(), Part()
    wrapped = faults.wrap("part", part)
    faults.arm("part", nth, KINDS["timeout"])
    wrapped.put("before")
    found: list[int] = []
    try:
        async with wrapped.opened() as items, aclosing(items):
            async for item in items:
                found += [item]
    except TimeoutError:
        assert faults.fired is not None
    await wrapped.aclose()
    assert found == seen
    assert part.closed == (2 if seen else 1), "what had begun was closed, and the part itself"


async def test_a_part_that_is_not_armed_only_counts() -> None:
    faults = Faults()
    one, two = faults.wrap("one", Part()), faults.wrap("two", Part())
    faults.arm("two", 1, KINDS["os"])
    one.put("a")
    assert faults.fired is None
    with pytest.raises(OSError, match="Input/output error"):
        two.put("a")
    faults.disarm()
    assert two.put("b") == "b"
    assert (faults.calls("one"), faults.calls("two")) == (0, 1)


async def test_what_a_part_makes_is_wrapped_too_where_that_is_wanted() -> None:
    faults, part = Faults(), Part()
    wrapped = faults.wrap("part", part, deep=("create",))
    made = await wrapped.create()
    faults.arm("part", 1, KINDS["recursion"])
    with pytest.raises(RecursionError):
        made.put("a")
    assert isinstance(wrapped, Part)
    assert wrapped.dialect == "plain"

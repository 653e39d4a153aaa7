"""The places for runs that are claimed where they become ready."""

from collections.abc import AsyncIterator
from typing import Any

import anyio

from outlast.kernel.runs.intake import Intake

RUN: Any = "a claimed run"


def test_nothing_comes_in_before_the_worker_has_claimed_what_waits() -> None:
    assert not Intake().take_place()


def test_as_many_come_in_as_there_are_places() -> None:
    intake = Intake()
    intake.let_in(2)
    assert [intake.take_place() for _ in range(3)] == [True, True, False]


def test_after_one_that_has_to_wait_all_others_wait_too_until_the_worker_has_claimed() -> None:
    intake = Intake()
    intake.let_in(1)
    assert intake.take_place()
    assert not intake.take_place()
    assert not intake.free_place()  # its place belongs to the one that waits
    assert not intake.take_place()
    intake.let_in(1)
    assert intake.take_place()


def test_a_run_that_leaves_frees_its_place() -> None:
    intake = Intake()
    intake.let_in(1)
    assert intake.take_place()
    assert intake.free_place()
    assert intake.take_place()


def test_while_the_worker_claims_its_own_places_are_not_given_away() -> None:
    intake = Intake()
    intake.let_in(3)
    intake.leave(1)
    assert [intake.take_place() for _ in range(2)] == [True, False]
    intake.leave(5)  # it stays shut
    assert not intake.take_place()


async def test_the_worker_gets_each_run_that_comes_in() -> None:
    intake = Intake()
    intake.put(RUN)
    runs = intake.come_in()
    assert await anext(runs) == RUN
    async with anyio.create_task_group() as group:
        group.start_soon(_take, runs)
        await anyio.wait_all_tasks_blocked()
        intake.put(RUN)
    assert (len(intake.waiting), intake.came_in) == (0, 2)


async def _take(runs: AsyncIterator[Any]) -> None:
    assert await anext(runs) == RUN

"""What a sandbox may use, and how much room it takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.sizes import MEBIBYTE, awake_allowed, hosted_allowed, limits_of, places_taken
from tests.templates import small_template

SETTINGS = SandboxSettings(memory_mb=1024, cpus=1.0, disk_mb=100, processes=64)
LARGE = replace(small_template(), memory_mb=2048, cpus=2.0)


def test_a_template_gets_the_memory_and_cores_that_it_needs_and_never_less_than_others() -> None:
    assert limits_of(SETTINGS, None).memory_bytes == 1024 * MEBIBYTE
    large, small = limits_of(SETTINGS, LARGE), limits_of(SETTINGS, small_template())
    assert (large.memory_bytes, large.cpu_count) == (2048 * MEBIBYTE, 2.0)
    assert (small.memory_bytes, small.cpu_count) == (1024 * MEBIBYTE, 1.0)
    assert (large.disk_bytes, large.processes) == (100 * MEBIBYTE, 64)


def test_it_counts_for_as_many_as_it_needs_memory_unless_their_number_is_set() -> None:
    assert places_taken(SETTINGS, None) == 1
    assert places_taken(SETTINGS, small_template()) == 1
    assert places_taken(SETTINGS, LARGE) == 2
    assert places_taken(SETTINGS, replace(LARGE, memory_mb=2100)) == 3
    assert places_taken(replace(SETTINGS, max_awake=5), LARGE) == 1


@pytest.mark.parametrize(("setting", "memory_gb", "allowed"), [(7, 64, 7), (0, 64, 64), (0, 2, 4)])
def test_as_many_are_awake_as_set_or_as_fit_into_memory(setting: int, memory_gb: int, allowed: int) -> None:
    assert awake_allowed(setting, memory_gb << 30, 1 << 30) == allowed


@pytest.mark.parametrize(
    ("setting", "awake", "allowed"), [(0, 1, 1), (0, 2, 2), (0, 4, 3), (0, 64, 48), (5, 64, 5), (99, 64, 64)]
)
def test_programs_of_one_project_leave_room_for_those_of_others(setting: int, awake: int, allowed: int) -> None:
    assert hosted_allowed(setting, awake) == allowed

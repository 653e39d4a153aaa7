"""What a service may be, and what happens when it ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from outlast.base.errors import MalformedInput
from outlast.kernel.sandboxes.services.rules import (
    DELAYS_S,
    MAX_FAILURES,
    MAX_SERVICES,
    STEADY_S,
    Declared,
    Restart,
    after_end,
    checked,
    how_it_ended,
    must_restart,
)
from outlast.kernel.sandboxes.shapes import ServiceStatus

WEB = Declared("web", "npm run dev", 3000, "/")


def test_a_plain_declaration_stands() -> None:
    assert checked(WEB, [Declared("api", "run", 4000)]) == WEB


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"name": "Web"},
        {"name": "-web"},
        {"name": "web-"},
        {"name": "a/b"},
        {"name": "../x"},
        {"name": "x" * 41},
        {"command": "  "},
        {"command": "x" * 4001},
        {"command": "a\0b"},
        {"port": 80},
        {"port": 65_536},
        {"health_path": "health"},
        {"health_path": "/a b"},
        {"health_path": "/a\r\nHost: x"},
    ],
)
def test_a_declaration_that_cannot_work_is_refused_and_the_field_named(change: dict[str, Any]) -> None:
    with pytest.raises(MalformedInput) as caught:
        checked(replace(WEB, **change), [])
    assert caught.value.fields["field"] == next(iter(change))


def test_two_services_cannot_have_one_port_but_a_service_may_be_declared_again() -> None:
    with pytest.raises(MalformedInput, match="api uses 3000"):
        checked(WEB, [Declared("api", "run", 3000)])
    assert checked(WEB, [WEB]) == WEB


def test_a_workspace_has_so_many_services_and_no_more() -> None:
    others = [Declared(f"s{number}", "run", 4000 + number) for number in range(MAX_SERVICES)]
    with pytest.raises(MalformedInput, match="remove one first"):
        checked(WEB, others)
    assert checked(replace(others[0], command="other"), others).command == "other"


def test_one_that_ends_early_is_started_later_each_time_and_then_given_up() -> None:
    failures, delays = 0, []
    while step := after_end(failures, 0.0):
        delays.append(step.delay_s)
        failures = step.failures
    assert delays == list(DELAYS_S[: MAX_FAILURES - 1])


def test_one_that_was_well_for_long_begins_anew_with_its_restarts() -> None:
    assert after_end(MAX_FAILURES - 1, STEADY_S) == Restart(DELAYS_S[0], 0)


@pytest.mark.parametrize(
    ("state", "wanted", "anew"),
    [
        ("healthy", WEB, False),
        ("starting", WEB, False),
        ("failed", WEB, True),
        ("healthy", replace(WEB, port=3001), True),
    ],
)
def test_declaring_again_leaves_alone_what_runs_as_declared(state: ServiceStatus, wanted: Declared, anew: bool) -> None:
    assert must_restart(WEB, state, wanted) is anew


@pytest.mark.parametrize(
    ("exit_code", "answered", "words"),
    [(3, True, "exit code 3"), (None, False, "did not answer within 180 s"), (None, True, "stopped answering")],
)
def test_it_is_said_how_it_ended(exit_code: int | None, answered: bool, words: str) -> None:
    assert words in how_it_ended(exit_code, answered)

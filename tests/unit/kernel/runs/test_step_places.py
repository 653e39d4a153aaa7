"""Which failures a function went on after, by the places of its steps."""

from __future__ import annotations

import pytest

from outlast.kernel.runs.step_places import passed_steps


@pytest.mark.parametrize(
    ("failed", "recorded", "passed"),
    [
        (["2"], ["0", "1", "2"], []),
        (["1"], ["0", "1", "2"], ["1"]),
        (["9"], ["9", "10"], ["9"]),  # numbers, not texts
        (["4.1.0"], ["4.0.0", "4.0.1", "4.1.0", "4.2.0"], []),  # other branches of a gather
        (["4.1.0"], ["4.0.0", "4.1.0", "4.1.2"], ["4.1.0"]),  # later in its branch
        (["4.1.0"], ["4.0.0", "4.1.0", "5"], ["4.1.0"]),  # later around the gather
        (["@chat__model.request 0"], ["@chat__model.request 0", "@chat__model.request.other 0"], []),  # of a guest
        (["4.1.0.3.0", "4.0.0"], ["4.0.0", "4.1.0.3.0", "4.1.1"], ["4.1.0.3.0"]),
    ],
)
def test_a_function_went_on_after_a_failure_if_a_later_call_is_recorded(
    failed: list[str], recorded: list[str], passed: list[str]
) -> None:
    assert passed_steps(failed, recorded) == passed

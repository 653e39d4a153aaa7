"""Which runs fail because tests were tried once more."""

from __future__ import annotations

from tests.reruns import complaints


def test_two_in_a_run_are_let_pass_and_three_are_not() -> None:
    assert complaints(["a", "b"], []) == []
    assert len(complaints(["a", "b", "c"], [])) == 1


def test_the_same_one_in_three_runs_fails_the_third() -> None:
    assert complaints(["a"], [["a"], ["b"]]) == []
    assert "a was tried once more in 3" in complaints(["a"], [["a"], ["b"], ["a"]])[0]

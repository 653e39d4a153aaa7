"""Which runs fail because tests were tried once more."""

from __future__ import annotations

from tests.reruns import complaints


def test_two_in_a_run_are_let_pass_and_three_are_not() -> None:
    assert complaints(["a", "b"], 10, []) == []
    assert len(complaints(["a", "b", "c"], 10, [])) == 1


def test_of_the_whole_suite_one_in_two_and_a_half_thousand_is_let_pass() -> None:
    assert complaints(list("abcde"), 13_000, []) == []
    assert complaints(list("abcdef"), 13_000, []) == ["6 of 13000 tests were tried once more; at most 5 may be."]


def test_the_same_one_in_three_runs_fails_the_third() -> None:
    assert complaints(["a"], 10, [["a"], ["b"]]) == []
    assert "a was tried once more in 3" in complaints(["a"], 10, [["a"], ["b"], ["a"]])[0]

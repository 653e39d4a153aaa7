"""What forks are called."""

from __future__ import annotations

from outlast.kernel.threads.forks import fork_title


def test_a_fork_names_what_it_was_forked_from_within_the_limit() -> None:
    assert fork_title("Plan", 200) == 'Fork of "Plan"'
    assert len(fork_title("x" * 200, 200)) == 200

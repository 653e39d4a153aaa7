"""Which checkpoints are kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from outlast.kernel.sandboxes.checkpoints.rules import Kept, superfluous

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WEEK = timedelta(days=7)


def test_the_newest_and_those_of_messages_are_kept_for_ever() -> None:
    old = NOW - timedelta(days=400)
    newest = Kept("newest", True, None, "run", False, old)
    answers = Kept("answers", False, "msg", "run", False, old)
    assert superfluous([newest, answers], NOW, WEEK) == []


def test_one_in_between_goes_with_the_record_of_its_run() -> None:
    recorded = Kept("between", False, None, "run", True, NOW - timedelta(days=400))
    assert superfluous([recorded], NOW, WEEK) == []
    assert superfluous([recorded._replace(recorded=False)], NOW, WEEK) == ["between"]


def test_one_of_no_run_goes_after_its_time() -> None:
    young = Kept("by hand", False, None, None, False, NOW - timedelta(days=6))
    assert superfluous([young], NOW, WEEK) == []
    assert superfluous([young._replace(created_at=NOW - WEEK)], NOW, WEEK) == ["by hand"]

"""Which checkpoints are kept, and when a folder may go."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from outlast.kernel.sandboxes.checkpoints.rules import Kept, Use, eviction_due, superfluous

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TTL = timedelta(minutes=30)
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


def test_a_folder_goes_when_nothing_is_open_and_its_time_has_come() -> None:
    use = Use(active=False, awake=False, kept=True, last_used_at=NOW - TTL)
    assert eviction_due(use, NOW, TTL)
    assert not eviction_due(use, NOW - timedelta(seconds=1), TTL)


@pytest.mark.parametrize("held", [{"active": True}, {"awake": True}, {"kept": False}])
def test_a_folder_in_use_or_in_no_checkpoint_stays(held: dict[str, bool]) -> None:
    use = Use(active=False, awake=False, kept=True, last_used_at=NOW - 100 * TTL)
    assert not eviction_due(replace(use, **held), NOW, TTL)  # type: ignore[arg-type]

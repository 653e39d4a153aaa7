"""Which snapshot is started from, which are built, which are given up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from outlast.kernel.sandboxes.snapshots.rules import (
    RETRY_AFTER,
    BuildState,
    Snapshot,
    must_build,
    to_collect,
    to_start_from,
)

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def known(name: str, state: BuildState = BuildState.READY, age_days: float = 0) -> Snapshot:
    then = NOW - timedelta(days=age_days)
    built_at = None if state is BuildState.BUILDING else then
    return Snapshot(
        name=name,
        provider="local",
        state=state,
        recipe={},
        ref=f"ref-{name}" if state is BuildState.READY else "",
        error=None,
        size_bytes=0,
        node_id="local",
        created_at=then,
        built_at=built_at,
        last_used_at=then,
    )


def test_the_wanted_snapshot_is_started_from_when_it_is_ready() -> None:
    all_known = [known("wanted", age_days=9), known("newer")]
    assert to_start_from(all_known, "wanted") == all_known[0]


def test_while_the_wanted_one_is_not_ready_the_newest_other_is_used() -> None:
    all_known = [
        known("wanted", BuildState.FAILED),
        known("old", age_days=3),
        known("newest", age_days=1),
        known("failed too", BuildState.FAILED),
    ]
    assert to_start_from(all_known, "wanted") == all_known[2]
    assert to_start_from([all_known[0], all_known[3]], "wanted") is None


def test_a_failed_one_is_tried_again_after_a_while_and_a_ready_one_never() -> None:
    failed = known("a", BuildState.FAILED)
    assert must_build(None, NOW)
    assert must_build(known("a", BuildState.BUILDING), NOW)
    assert not must_build(known("a"), NOW + timedelta(days=99))
    assert not must_build(failed, NOW + RETRY_AFTER - timedelta(seconds=1))
    assert must_build(failed, NOW + RETRY_AFTER)


def test_those_unused_for_long_are_given_up_but_not_the_wanted_one() -> None:
    all_known = [
        known("wanted", age_days=99),
        known("unused", age_days=20),
        known("failed long ago", BuildState.FAILED, age_days=30),
        known("used", age_days=13),
        known("being built", BuildState.BUILDING, age_days=99),
    ]
    assert [one.name for one in to_collect(all_known, "wanted", NOW, 14)] == ["failed long ago", "unused"]
    assert next(one.name for one in to_collect(all_known, None, NOW, 14)) == "wanted"

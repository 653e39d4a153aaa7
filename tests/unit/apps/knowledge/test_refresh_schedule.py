from datetime import UTC, datetime, timedelta

from outlast.apps.knowledge.refresh_schedule import due_after, retry_at


def test_a_failure_is_tried_again_sooner_than_a_success() -> None:
    now = datetime(2030, 1, 1, tzinfo=UTC)
    assert due_after(now, 24) == now + timedelta(hours=24)
    assert due_after(now, 0) is None
    assert retry_at(now) == now + timedelta(minutes=15)
    long_ago = now - timedelta(days=90)
    assert retry_at(now, read_at=long_ago) == now + timedelta(hours=6)
    assert retry_at(now, retry_after_s=7200) == now + timedelta(hours=2)
    assert retry_at(now, retry_after_s=0) == now + timedelta(minutes=1)

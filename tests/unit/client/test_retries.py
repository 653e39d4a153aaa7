"""When a request is sent again."""

import pytest

from outlast_client.errors import TryLater
from outlast_client.retries import Attempts, Retries

NOW = Retries(tries=3, first_pause_s=1, longest_pause_s=4, patience_s=60)


def refused(status: int = 503, retry_after_s: float | None = None) -> TryLater:
    return TryLater("Later.", code="busy", status=status, retry_after_s=retry_after_s)


def test_pauses_double_up_to_the_longest() -> None:
    for failures, grown in ((1, 1), (2, 2), (3, 4), (4, 4), (5_000, 4)):
        assert grown / 2 <= NOW.pause_s(failures, None) <= grown


def test_a_pause_that_the_server_asks_for_is_kept() -> None:
    assert NOW.pause_s(1, 30) == 30


def test_a_pause_never_exceeds_the_patience() -> None:
    assert NOW.pause_s(1, 3600) == 60


def test_a_refused_request_is_sent_again_whatever_it_does() -> None:
    attempts = Attempts(NOW, is_repeatable=False)
    assert attempts.pause_s(refused(429)) > 0


def test_a_lost_answer_is_asked_for_again_only_where_nothing_can_happen_twice() -> None:
    assert Attempts(NOW, is_repeatable=True).pause_s(refused(0)) > 0
    with pytest.raises(TryLater):
        Attempts(NOW, is_repeatable=False).pause_s(refused(0))


def test_the_last_attempt_raises() -> None:
    attempts = Attempts(NOW, is_repeatable=True)
    for _ in range(2):
        attempts.pause_s(refused())
    with pytest.raises(TryLater):
        attempts.pause_s(refused())


def test_a_request_is_given_up_at_once_when_the_server_asks_for_more_than_the_patience() -> None:
    with pytest.raises(TryLater):
        Attempts(NOW, is_repeatable=True).pause_s(refused(retry_after_s=61))

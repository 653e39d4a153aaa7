"""Which addresses are accepted, what is sent, and when it is tried again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.errors import MalformedInput
from outlast.kernel.webhooks import rules
from outlast.kernel.webhooks.rules import Outcome, next_of, outcome_of

NOW = datetime(2030, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
FAILED = Outcome(500, "The address answered 500.")


@pytest.mark.parametrize("url", ["https://example.com", "http://example.com:8080/a?b=c", "https://8.8.8.8/x"])
def test_an_address_of_the_web_is_accepted(url: str) -> None:
    assert rules.checked_url(url).port in (80, 443, 8080)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "ftp://example.com",
        "https://",
        "https://a:b@example.com",
        "https://example.com/a b",
        "http://127.0.0.1",
        "http://10.1.2.3",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://0x7f.1/",
        "http://169.254.169.254/",
        "https://example.com/" + "a" * 2_000,
    ],
)
def test_another_address_is_refused(url: str) -> None:
    with pytest.raises(MalformedInput):
        rules.checked_url(url)


def test_an_operator_allows_a_private_address_with_its_port() -> None:
    allowed = rules.host_ports(["10.0.0.5:9000"])
    assert rules.checked_url("http://10.0.0.5:9000/x", allowed) == ("10.0.0.5", 9000)
    with pytest.raises(MalformedInput):
        rules.checked_url("http://10.0.0.5:9001/x", allowed)


def test_chosen_events_are_kept_in_the_order_in_which_they_are_offered() -> None:
    assert rules.checked_events(["c", "a", "a"], ["a", "b", "c"]) == ["a", "c"]
    for wrong in ([], ["d"]):
        with pytest.raises(MalformedInput):
            rules.checked_events(wrong, ["a"])


@pytest.mark.parametrize(
    ("stream_id", "data", "about"),
    [
        ("run_1", {"approval": {"id": "apr_1"}}, "run_1"),
        ("prj_1", {"document": {"id": "doc_1"}, "by": None}, "doc_1"),
        ("prj_1", {"screen_id": "scr_1"}, "scr_1"),
        ("prj_1", {"text": "a" * 41}, "prj_1"),
        ("prj_1", {}, "prj_1"),
    ],
)
def test_events_of_one_thing_belong_together(stream_id: str, data: dict, about: str) -> None:
    assert rules.about_of(stream_id, data) == about


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=3_000),
    lambda inner: st.lists(inner, max_size=40) | st.dictionaries(st.text(max_size=20), inner, max_size=10),
    max_leaves=60,
)


@given(st.dictionaries(st.sampled_from(["run_id", "document", "approval", "parts"]), json_values))
def test_what_is_sent_is_never_large(data: dict) -> None:
    body = rules.body_of("run.completed", "2030-01-01T00:00:00.000Z", data, "/threads/thr_1")
    assert len(rules.with_whole_link(body, "https://outlast.example")) <= rules.MAX_BODY_BYTES
    assert orjson.loads(body)["data"]["link"] == "/threads/thr_1"


def test_a_text_that_was_cut_is_marked_and_ids_stay() -> None:
    data = {"approval": {"id": "apr_1", "arguments": "x" * 5_000}, "run_id": "run_1"}
    sent = orjson.loads(rules.body_of("approval.requested", "2030", data, "/threads/thr_1"))["data"]
    assert sent["truncated"]
    assert len(sent["approval"]["arguments"]) == rules.TEXT_CHARS + 1
    huge = {"document": {"id": "doc_1", **{f"field{n}": "ä" * 1_000 for n in range(40)}}, "run_id": "run_1"}
    sent = orjson.loads(rules.body_of("document.created", "2030", huge, "/projects/prj_1"))["data"]
    assert (sent["document"], sent["run_id"], sent["truncated"]) == ({"id": "doc_1"}, "run_1", True)
    small = orjson.loads(rules.body_of("run.queued", "2030", {"run_id": "run_1"}, "/x"))["data"]
    assert small == {"run_id": "run_1", "link": "/x", "truncated": False}


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_only_2xx_is_accepted(status: int) -> None:
    assert outcome_of(status).reason is None


@pytest.mark.parametrize("status", [301, 302, 400, 404, 410, 429, 500, 503])
def test_any_other_answer_has_a_reason(status: int) -> None:
    assert str(status) in (outcome_of(status).reason or "")


def test_a_failed_delivery_is_tried_for_a_day_and_then_given_up() -> None:
    now, tries, waits = NOW, 0, []
    while (then := next_of(FAILED, tries := tries + 1, NOW, now, 5, DAY, 0.5)).state == "pending":
        waits.append(then.wait_s)
        now += timedelta(seconds=then.wait_s)
    assert then.state == "dead"
    assert waits[:4] == [5, 10, 20, 40]
    assert waits == sorted(waits)
    assert timedelta(hours=19) < now - NOW <= DAY
    assert len(waits) < 20


def test_the_waits_of_many_are_spread() -> None:
    assert next_of(FAILED, 1, NOW, NOW, 5, DAY, 0.0).wait_s == pytest.approx(4)
    assert next_of(FAILED, 1, NOW, NOW, 5, DAY, 1.0).wait_s == pytest.approx(6)


def test_an_address_that_is_gone_is_not_tried_again() -> None:
    assert next_of(outcome_of(410), 1, NOW, NOW, 5, DAY, 0.5).state == "dead"
    assert next_of(outcome_of(200), 1, NOW, NOW, 5, DAY, 0.5).state == "delivered"

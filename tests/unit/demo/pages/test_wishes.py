"""What words on a page call for."""

from __future__ import annotations

import pytest

from outlast_demo.pages.wishes import Kind, from_text, query_of, title_of, to_text, wish_of


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Show my open issues", Kind.LIST),
        ("A chart of all open issues", Kind.SUMMARY),
        ("Show the issues in Harbor", Kind.LIST),
        ("A to-do list where I can add, tick off and remove things", Kind.TODO),
        ("A counter with buttons to count up, down and reset", Kind.COUNTER),
        ("save that as a module", Kind.MODULE),
        ("how many bugs are there?", Kind.SUMMARY),
        ("what is unassigned", Kind.LIST),
        ("translate this poem", Kind.UNKNOWN),
        ("the same again", Kind.UNKNOWN),
        ("", Kind.UNKNOWN),
    ],
)
def test_words_call_for_a_recording(said: str, kind: Kind) -> None:
    assert wish_of(said).kind is kind


def test_words_that_point_back_mean_what_was_done_before() -> None:
    before = '1. "a counter" → built a counter\n- "show the urgent issues in Lumen" → fetched 1'
    assert wish_of("again, please", before).kind is Kind.COUNTER
    assert wish_of("the same", "- show closed issues → fetched 3").query["state"] == "closed"
    assert wish_of("again", '"save that as a module" → saved').kind is Kind.UNKNOWN


@pytest.mark.parametrize(
    ("said", "query", "title"),
    [
        ("show my open issues", "state=open&assigned_to=me&sort=priority", "My open issues"),
        ("closed issues of atlas", "state=closed&project=ATL&sort=priority", "Closed issues in Atlas"),
        (
            "unassigned urgent bugs in review, by due date",
            "state=open&status=in_review&assigned_to=none&priority=urgent&sort=due",
            "Urgent open issues without an assignee, in review",
        ),
    ],
)
def test_words_become_the_trackers_own_filters(said: str, query: str, title: str) -> None:
    asked = query_of(said)
    assert to_text(asked) == query
    assert title_of(asked) == title
    assert from_text(query) == asked


def test_filters_that_the_tracker_does_not_have_are_left_out() -> None:
    assert from_text("state=open&evil=1&page_size=9") == {"state": "open"}

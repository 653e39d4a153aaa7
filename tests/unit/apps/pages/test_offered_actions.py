"""Which actions a page offers, and what may come with them."""

from __future__ import annotations

import pytest

from outlast.apps.pages.offered_actions import demand_fields, offer_of
from outlast.base.errors import ActionNotOffered
from tests.page_sequences import sanitised_html

PAGE = sanitised_html(
    """
    <button data-action="close" data-issue-id="7">Close</button>
    <button data-action="inc" data-repeat>+1</button>
    <input type="checkbox" name="done" data-action="tick">
    <form id="new" data-action="create" data-kind="bug">
      <input name="title"><textarea name="body"></textarea><button name="how" value="now">Create</button>
      <button data-action="draft" data-as="draft">Keep</button>
    </form>
    <select name="team" form="new"><option>a</option></select>
    <p data-action="odd"></p>
    """
)


@pytest.mark.parametrize("name", ["evil", "clos", "close2", "title"])
def test_a_page_offers_what_stands_on_it_and_nothing_else(name: str) -> None:
    with pytest.raises(ActionNotOffered):
        offer_of(PAGE, name)
    with pytest.raises(ActionNotOffered):
        offer_of("", name)


def test_an_element_says_whether_it_may_be_done_again() -> None:
    assert (offer_of(PAGE, "close").repeats, offer_of(PAGE, "close").changes) == (False, False)
    assert offer_of(PAGE, "inc").repeats
    assert offer_of(PAGE, "tick").changes


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("close", {"issueId": "7", "anything": 1}),
        ("tick", {"done": True, "value": True}),
        ("create", {"title": "T", "body": "", "team": "a", "how": "now", "kind": "bug"}),
        ("create", {}),
        ("draft", {"title": "T", "kind": "bug", "as": "draft"}),
    ],
)
def test_a_form_sends_its_fields_and_its_own_values(name: str, data: dict[str, object]) -> None:
    demand_fields(offer_of(PAGE, name), data)


def test_a_field_that_the_form_does_not_have_is_refused_and_named() -> None:
    with pytest.raises(ActionNotOffered) as refused:
        demand_fields(offer_of(PAGE, "create"), {"title": "T", "amount": 9, "admin": True})
    assert refused.value.fields["fields"] == ["admin", "amount"]


def test_what_is_offered_outside_of_a_form_too_may_carry_any_value() -> None:
    both = sanitised_html(
        '<form data-action="go"><input name="a"></form><button data-action="go" data-b="1">x</button>'
    )
    demand_fields(offer_of(both, "go"), {"b": "1", "c": 2})

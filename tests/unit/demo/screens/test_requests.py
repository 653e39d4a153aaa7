"""Which recording a person's words call for."""

import pytest

from outlast_demo.screens.requests import Kind, Wish, wish_of
from outlast_demo.screens.sources import SCREENS


@pytest.mark.parametrize(
    ("asked", "screen"),
    [
        ("a pricing page", "pricing"),
        ("A landing page for my coffee roastery", "landing"),
        ("Build an analytics dashboard with charts", "dashboard"),
        ("a sign-in form", "sign_in"),
        ("login screen please", "sign_in"),
        ("kanban board", "kanban"),
        ("a page with charts about energy", "charts"),
        ("A pricing page with three plans and a monthly or yearly switch", "pricing_yearly"),
        ("A landing page for a new product, with a hero, features and a call to action", "landing"),
        ("A dashboard with key figures, a chart and a table of recent orders", "dashboard"),
        ("A sign-in form with email, password and other ways to sign in", "sign_in"),
        ("A kanban board whose cards can be moved between columns", "kanban"),
        ("A page with charts of the last twelve months", "charts"),
    ],
)
def test_the_words_choose_the_screen(asked: str, screen: str) -> None:
    assert wish_of(asked, begun=False) == Wish(Kind.BUILD, screen)
    assert screen in SCREENS


def test_an_unknown_request_on_an_empty_page_gets_the_landing_page_and_counts_as_guessed() -> None:
    assert wish_of("something with whales", begun=False) == Wish(Kind.BUILD, "landing", guessed=True)


@pytest.mark.parametrize(
    ("asked", "wish"),
    [
        ("make it warmer", Wish(Kind.TINT, "chart-3")),
        ("Change the accent colour", Wish(Kind.TINT, "chart-3", guessed=True)),
        ("make it green, like a forest", Wish(Kind.TINT, "chart-2")),
        ("Add a FAQ section", Wish(Kind.ADD, "faq")),
        ("add testimonials", Wish(Kind.ADD, "testimonials")),
        ("make it work on phones", Wish(Kind.ADD, "phone-bar")),
        ("add a light mode switch", Wish(Kind.ADD, "mode-switch")),
        ("add a monthly-yearly switch to the plans", Wish(Kind.YEARLY)),
        ("please add a FAQ to the pricing page", Wish(Kind.ADD, "faq")),
        ("make the pricing page blue", Wish(Kind.TINT, "chart-5")),
        ("Change the accent colour to emerald", Wish(Kind.TINT, "chart-2")),
        ("Add a section with testimonials", Wish(Kind.ADD, "testimonials")),
        ("Make it more compact", Wish(Kind.SPACE, "compact")),
        ("Add a switch between dark and light", Wish(Kind.ADD, "mode-switch")),
        ("Make it look good on a phone", Wish(Kind.ADD, "phone-bar")),
        ("write me a poem", Wish(Kind.UNKNOWN)),
    ],
)
def test_a_change_means_the_screen_that_is_there(asked: str, wish: Wish) -> None:
    assert wish_of(asked, begun=True) == wish


def test_another_screen_may_be_asked_for_where_one_was_built() -> None:
    assert wish_of("a kanban board", begun=True) == Wish(Kind.BUILD, "kanban")

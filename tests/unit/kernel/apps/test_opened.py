"""Apps open what exists once per server; the one that another needs is opened first."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from outlast.kernel.apps.app import App
from outlast.kernel.apps.opened import Opened, Opening
from outlast.kernel.apps.ports import Port
from outlast.kernel.apps.registry import only

GREETING: Port[str] = Port("greeting", "nobody greets")


def opening() -> Opening:
    """Without resources: the apps of these tests need none."""
    names = "settings database blobs clock folder environment supervisor hub templates states closing"
    given: dict[str, Any] = dict.fromkeys(names.split())
    return Opening(**given)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The apps in the order in which they were opened: `votes` greets, `polls` says what it heard."""
    opened: list[str] = []

    def open_votes(_opening: Opening) -> Opened:
        opened.append("votes")
        return Opened(implements=[GREETING.by("hello")])

    def open_polls(opening: Opening) -> Opened:
        opened.append(f"polls: {opening.implementation(GREETING)}")
        return Opened()

    monkeypatch.setitem(sys.modules, "votes_server", SimpleNamespace(open_app=open_votes))
    monkeypatch.setitem(sys.modules, "polls_server", SimpleNamespace(open_app=open_polls))
    return opened


POLLS = App(name="polls", server="polls_server")
VOTES = App(name="votes", server="votes_server", opens=[GREETING])


@pytest.mark.parametrize("apps", [(POLLS, VOTES), (VOTES, POLLS)])
def test_an_app_gets_what_another_opens_in_any_order_and_each_is_opened_once(
    calls: list[str], apps: tuple[App, ...]
) -> None:
    with only(*apps):
        server = opening()
        for app in apps:
            server.open(app)
    assert sorted(calls) == ["polls: hello", "votes"]
    assert server.implementations == {GREETING: "hello"}


def test_a_port_that_no_app_opens_answers_as_it_says_itself(calls: list[str]) -> None:
    with only(POLLS, App(name="silent")):
        server = opening()
        assert server.open(App(name="silent")) == Opened()
        server.open(POLLS)
    assert calls == ["polls: nobody greets"]

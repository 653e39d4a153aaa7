"""Whom a text names."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.kernel.mentions.rules import Named, find_names, one_line, without_agent

MEMBERS = [
    ("u1", "Ada"),
    ("u2", "Ada Lovelace"),
    ("u3", "Bob"),
    ("u4", "bob"),
    ("u5", "Zoë Ångström"),
    ("u6", "李明"),
    ("u7", "C. (x|y)* [z]"),
]


@pytest.mark.parametrize(
    ("text", "users", "agent"),
    [
        ("@Ada, look", ["u1"], False),
        ("@ada lovelace: look", ["u2"], False),  # the longest name that fits, in any case
        ("@Ada  Lovelace", ["u2"], False),
        ("@Adam", [], False),
        ("@Ada-like", ["u1"], False),
        ("(@Ada)", ["u1"], False),
        ("me@ada.org and /@Ada", [], False),
        ("@@Ada", [], False),
        ("@zoë ångström!", ["u5"], False),
        ("@Zoe\u0308 A\u030angstro\u0308m!", ["u5"], False),  # the same letters, written otherwise
        ("@李明你好", [], False),
        ("@李明 你好", ["u6"], False),
        ("@C. (x|y)* [z]", ["u7"], False),
        ("@Bob", ["u3", "u4"], False),  # nobody knows which
        ("@Ada and @Ada", ["u1"], False),
        ("`@Ada` and ``x @Ada` y``", [], False),
        ("```\n@Ada\n```\n@Bob", ["u3", "u4"], False),
        ("~~~py\n@agent\n", [], False),
        ("it costs 5` here and 6` there, @Ada", ["u1"], False),
        ("@agent do it", [], True),
        ("@Agent, ask @Ada", ["u1"], True),
        ("@agents", [], False),
        ("@", [], False),
        ("", [], False),
    ],
)
def test_names_are_found_after_an_at_sign(text: str, users: list[str], agent: bool) -> None:
    assert find_names(text, MEMBERS) == Named(tuple(users), agent)


def test_who_was_picked_decides_between_members_of_one_name() -> None:
    assert find_names("@Bob?", MEMBERS, ["u4"]).users == ("u4",)
    assert find_names("Look.", MEMBERS, ["u6", "u1", "usr_stranger"]).users == ("u6", "u1")


def test_a_member_called_agent_is_named_by_being_picked() -> None:
    members = [("u1", "Agent"), ("u2", "Agent Smith")]
    assert find_names("@agent", members) == Named((), True)
    assert find_names("@agent smith", members) == Named(("u2",), False)
    assert find_names("@agent", members, ["u1"]) == Named(("u1",), True)


@given(st.text(alphabet="@ab `~\n*é_", max_size=60), st.lists(st.text("ab é@*(", max_size=4), max_size=4))
def test_any_text_and_any_names_are_read(text: str, names: list[str]) -> None:
    members = [(str(place), name) for place, name in enumerate(names)]
    found = find_names(text, members)
    assert set(found.users) <= {user_id for user_id, _ in members}
    assert not found.users or "@" in text


def test_reading_a_long_text_takes_time_that_grows_with_its_length_alone() -> None:
    rising = " ".join("`" * size for size in range(1, 600))
    began = time.thread_time()
    for text in ("`" * 100_000, "@" * 100_000, "` `` " * 20_000, "```\n" * 25_000, f"@x {rising}"):
        find_names(text, MEMBERS)
    people = [(str(number), f"ada {'x' * number}") for number in range(150)]
    find_names("@ada " * 40_000, people)
    assert time.thread_time() - began < 5  # about 0.2 s on a quiet machine


def test_ticks_that_nothing_closes_hide_no_name() -> None:
    assert find_names("``` `` ` @Ada `` ` @Bob", MEMBERS).users == ()  # a fence
    assert find_names("x ``` `` @Ada `` ` @Bob", MEMBERS).users == ("u3", "u4")
    assert find_names("` @Ada\n` @Bob", MEMBERS).users == ("u1", "u3", "u4")
    assert find_names("````\n```\n@Ada\n`````\n@Ada\nLovelace", MEMBERS).users == ("u2",)


def test_what_the_agent_is_asked_is_said_without_its_name() -> None:
    assert without_agent("@Agent, make it shorter") == "make it shorter"
    assert without_agent("Make it shorter, @agent") == "Make it shorter, @agent"
    assert without_agent("@agents of change") == "@agents of change"


def test_one_line_of_a_text_is_its_beginning() -> None:
    assert one_line("a\n\n b") == "a b"
    assert one_line("x" * 300, 10) == "x" * 9 + "…"
    assert one_line(" " * 1000 + "x", 10) == "…"

"""Who watches and who types."""

from __future__ import annotations

import pytest

from outlast.base.events import MemberData
from outlast.core.presence.board import TYPING_S, PresenceBoard

ADA = MemberData(user_id="usr_a", name="Ada", role="owner")
BOB = MemberData(user_id="usr_b", name="Bob", role="viewer")


class Clock:
    seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def board(clock: Clock) -> PresenceBoard:
    return PresenceBoard(clock)  # type: ignore[arg-type]  # only monotonic time is used


@pytest.fixture
def told(board: PresenceBoard) -> list[str]:
    changes: list[str] = []
    board.on_change(changes.append)
    return changes


def names(board: PresenceBoard) -> list[str]:
    return [member.name for member in board.present("thr_1").watching]


def test_a_person_with_two_tabs_is_shown_once_until_both_are_closed(
    board: PresenceBoard, told: list[str]
) -> None:
    with board.watching("thr_1", BOB):
        with board.watching("thr_1", ADA), board.watching("thr_1", ADA):
            assert names(board) == ["Ada", "Bob"]
        assert names(board) == ["Bob"]
    assert names(board) == []
    assert told == ["thr_1"] * 4
    assert board.statistics() == {"threads": 0, "tabs": 0}


def test_typing_ends_by_itself(board: PresenceBoard, clock: Clock, told: list[str]) -> None:
    with board.watching("thr_1", ADA):
        board.type_in("thr_1", "usr_a", True)
        assert board.present("thr_1").typing == ["usr_a"]
        clock.seconds += TYPING_S - 1
        board.type_in("thr_1", "usr_a", True)
        assert board.sweep() == TYPING_S
        clock.seconds += TYPING_S
        assert board.present("thr_1").typing == []
        assert board.sweep() is None
    assert told == ["thr_1"] * 4  # came, types, paused, left: typing on is no news


def test_typing_ends_when_told_and_with_the_last_tab(board: PresenceBoard) -> None:
    with board.watching("thr_1", ADA):
        board.type_in("thr_1", "usr_a", True)
        board.type_in("thr_1", "usr_a", False)
        assert board.present("thr_1").typing == []
        board.type_in("thr_1", "usr_a", True)
    with board.watching("thr_1", ADA):
        assert board.present("thr_1").typing == []


def test_who_does_not_watch_cannot_be_seen_typing(board: PresenceBoard, told: list[str]) -> None:
    board.type_in("thr_1", "usr_a", True)
    with board.watching("thr_1", BOB):
        board.type_in("thr_1", "usr_a", True)
        assert board.present("thr_1").typing == []
    assert told == ["thr_1"] * 2


def test_who_has_a_project_open_is_told_as_of_the_project(board: PresenceBoard) -> None:
    with board.watching("prj_1", ADA):
        shown = board.present("prj_1")
    assert (shown.project_id, shown.thread_id) == ("prj_1", "")
    assert [member.name for member in shown.watching] == ["Ada"]

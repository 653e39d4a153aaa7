"""Who watches and who types."""

from __future__ import annotations

import pytest

from outlast.kernel.presence.board import GRACE_S, TYPING_S, PresenceBoard
from outlast.kernel.projects.shapes import MemberData

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


def test_a_person_with_two_tabs_is_shown_once_until_both_are_closed(board: PresenceBoard, told: list[str]) -> None:
    with board.watching("thr_1", BOB):
        with board.watching("thr_1", ADA), board.watching("thr_1", ADA):
            assert names(board) == ["Ada", "Bob"]
        assert names(board) == ["Bob"]
    assert names(board) == []
    assert told == ["thr_1"] * 4
    assert board.statistics() == {"threads": 0, "tabs": 0, "documents": 0}


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


def places(board: PresenceBoard) -> dict[str, str]:
    return board.present("doc_1").places


def test_whoever_is_in_a_document_is_shown_at_their_block(board: PresenceBoard, told: list[str]) -> None:
    with board.watching("prj_1", ADA), board.watching("prj_1", BOB):
        told.clear()
        board.move_to("doc_1", "prj_1", BOB, None, typing=False)
        board.move_to("doc_1", "prj_1", ADA, "blk_1", typing=True)
        board.move_to("doc_1", "prj_1", ADA, "blk_1", typing=True)
        shown = board.present("doc_1")
        assert [member.name for member in shown.watching] == ["Ada", "Bob"]
        assert (shown.places, shown.typing) == ({"usr_a": "blk_1"}, ["usr_a"])
        assert (shown.document_id, shown.project_id, shown.thread_id) == ("doc_1", "prj_1", "")
        assert told == ["doc_1", "doc_1"]  # saying the same again is no news


def test_typing_in_a_document_ends_by_itself(board: PresenceBoard, clock: Clock, told: list[str]) -> None:
    with board.watching("prj_1", ADA):
        board.move_to("doc_1", "prj_1", ADA, "blk_1", typing=True)
        clock.seconds += TYPING_S - 1
        assert board.sweep() == 1
        board.move_to("doc_1", "prj_1", ADA, "blk_1", typing=True)
        clock.seconds += TYPING_S
        told.clear()
        assert board.sweep() is None
        assert (board.present("doc_1").typing, places(board), told) == ([], {"usr_a": "blk_1"}, ["doc_1"])


def test_whoever_leaves_a_document_disappears_from_it(board: PresenceBoard, told: list[str]) -> None:
    with board.watching("prj_1", ADA):
        board.move_to("doc_1", "prj_1", ADA, "blk_1", typing=False)
        told.clear()
        projects: list[str] = []
        board.on_change(lambda room_id: projects.append(board.present(room_id).project_id))
        board.leave_document("doc_1", "usr_a")
        board.leave_document("doc_1", "usr_a")
        assert (board.present("doc_1").watching, told) == ([], ["doc_1"])
        assert projects == ["prj_1"]  # whose followers are told
        assert board.present("doc_1").project_id == ""  # nothing is kept of a document that nobody has open


def test_whoever_is_cut_off_is_gone_from_documents_unless_they_come_back_soon(
    board: PresenceBoard, clock: Clock
) -> None:
    with board.watching("prj_1", ADA):
        board.move_to("doc_1", "prj_1", ADA, "blk_1", typing=False)
    clock.seconds += GRACE_S - 1
    with board.watching("prj_1", ADA):
        clock.seconds += GRACE_S
        assert board.sweep() is None
        assert places(board) == {"usr_a": "blk_1"}
    assert board.sweep() == GRACE_S
    clock.seconds += GRACE_S
    assert board.sweep() is None
    assert board.present("doc_1").watching == []
    assert board.statistics()["documents"] == 0


def test_whoever_moves_before_their_stream_is_open_is_kept_for_it(board: PresenceBoard, clock: Clock) -> None:
    board.move_to("doc_1", "prj_1", ADA, "blk_1", typing=False)
    assert board.sweep() == GRACE_S
    with board.watching("prj_1", ADA):
        clock.seconds += GRACE_S
        assert board.sweep() is None
        assert places(board) == {"usr_a": "blk_1"}

"""Presence over several nodes: what each shows of members on others, and that a dead node's members go."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import anyio
import orjson
import pytest

from outlast.kernel.presence.board import GRACE_S, TYPING_S, PresenceBoard
from outlast.kernel.presence.elsewhere import LEASE_S
from outlast.kernel.presence.news import MOST_BYTES, PresenceNews, _batches
from outlast.kernel.projects.shapes import MemberData
from outlast.kernel.streams.live.memory import MemoryLive
from outlast.testing.clock import ManualClock

ADA = MemberData(user_id="usr_a", name="Ada", role="owner")
BOB = MemberData(user_id="usr_b", name="Bob", role="editor")


class Wire(MemoryLive):
    """Passes news to the other node as they are passed between processes: as JSON."""

    def __init__(self) -> None:
        self.others: list[Wire] = []
        self.listeners: list[Callable[[Any], None]] = []
        self.joined: list[Callable[[], None]] = []

    def tell(self, kind: str, body: Any) -> None:
        assert len(orjson.dumps(body)) < 7_000
        for other in self.others:
            for listener in other.listeners:
                listener(orjson.loads(orjson.dumps(body)))

    def on_news(self, kind: str, listener: Callable[[Any], None]) -> None:
        self.listeners.append(listener)

    def on_joined(self, listener: Callable[[], None]) -> None:
        self.joined.append(listener)


class Nodes:
    """Two boards; `settle` has everything told that is due."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.wires = Wire(), Wire()
        self.wires[0].others, self.wires[1].others = [self.wires[1]], [self.wires[0]]
        self.a, self.b = PresenceBoard(self.clock), PresenceBoard(self.clock)
        self.news = (
            PresenceNews(self.a, self.wires[0], self.clock, "nod_a"),
            PresenceNews(self.b, self.wires[1], self.clock, "nod_b"),
        )

    def settle(self) -> None:
        for news, wire in zip(self.news, self.wires, strict=True):
            changed, news._changed = news._changed, {}
            for batch in news.batches(changed):
                wire.tell("presence", [news._node_id, batch])


@pytest.fixture
def nodes() -> Nodes:
    return Nodes()


def names(board: PresenceBoard, room: str = "thr_1") -> list[str]:
    return [member.name for member in board.present(room).watching]


def enter(board: PresenceBoard, room: str, member: MemberData) -> AbstractContextManager[None]:
    return board.watching(room, member)


def test_a_watcher_is_shown_on_both_nodes_until_they_leave(nodes: Nodes) -> None:
    told: list[str] = []
    nodes.b.on_change(told.append)
    with enter(nodes.a, "thr_1", ADA), enter(nodes.b, "thr_1", BOB):
        nodes.settle()
        assert names(nodes.a) == names(nodes.b) == ["Ada", "Bob"]
    nodes.settle()
    assert names(nodes.a) == names(nodes.b) == []
    assert told == ["thr_1"] * 4


def test_one_person_on_two_nodes_is_shown_once_until_both_are_closed(nodes: Nodes) -> None:
    with enter(nodes.a, "thr_1", ADA):
        with enter(nodes.b, "thr_1", ADA):
            nodes.settle()
            assert names(nodes.a) == names(nodes.b) == ["Ada"]
        nodes.settle()
        assert names(nodes.a) == names(nodes.b) == ["Ada"]


def test_typing_is_shown_on_the_other_node_and_ends_there_by_itself(nodes: Nodes) -> None:
    with enter(nodes.a, "thr_1", ADA):
        nodes.a.type_in("thr_1", "usr_a", True)
        nodes.settle()
        assert nodes.b.present("thr_1").typing == ["usr_a"]
        nodes.clock.advance(TYPING_S - 1)
        nodes.a.type_in("thr_1", "usr_a", True)
        nodes.settle()
        nodes.clock.advance(2)
        nodes.b.sweep()
        assert nodes.b.present("thr_1").typing == ["usr_a"], "they went on typing"
        nodes.clock.advance(TYPING_S)
        nodes.b.sweep()
        assert nodes.b.present("thr_1").typing == []


def test_typing_that_reaches_another_node_than_the_stream_is_shown_on_both(nodes: Nodes) -> None:
    with enter(nodes.a, "thr_1", ADA):
        nodes.settle()
        nodes.b.type_in("thr_1", "usr_a", True)
        nodes.settle()
        assert nodes.a.present("thr_1").typing == nodes.b.present("thr_1").typing == ["usr_a"]
        nodes.b.type_in("thr_1", "usr_a", False)
        nodes.settle()
        assert nodes.a.present("thr_1").typing == nodes.b.present("thr_1").typing == []
    nodes.settle()
    nodes.b.sweep()
    nodes.settle()
    assert names(nodes.a) == names(nodes.b) == []


def test_members_of_a_node_that_died_go_when_their_lease_ends(nodes: Nodes) -> None:
    with enter(nodes.a, "thr_1", ADA):
        nodes.settle()
        nodes.clock.advance(LEASE_S - 1)
        nodes.b.sweep()
        assert names(nodes.b) == ["Ada"]
        nodes.clock.advance(1)
        nodes.b.sweep()
        assert names(nodes.b) == []


def test_what_is_repeated_stays(nodes: Nodes) -> None:
    with enter(nodes.a, "thr_1", ADA):
        nodes.settle()
        for _ in range(5):
            nodes.clock.advance(10)
            nodes.a.tell_all()
            nodes.settle()
            nodes.b.sweep()
            assert names(nodes.b) == ["Ada"]


def test_a_node_that_starts_is_told_everything(nodes: Nodes) -> None:
    with enter(nodes.a, "thr_1", ADA):
        nodes.news[0]._changed.clear()  # told before the other one listened
        for again in nodes.wires[0].joined:
            again()
        nodes.settle()
        assert names(nodes.b) == ["Ada"]


def test_a_place_in_a_document_follows_its_user_over_nodes(nodes: Nodes) -> None:
    with enter(nodes.a, "prj_1", ADA), enter(nodes.b, "prj_1", BOB):
        nodes.settle()
        nodes.a.move_to("doc_1", "prj_1", ADA, "blk_1", typing=True)
        nodes.settle()
        assert nodes.b.present("doc_1").places == {"usr_a": "blk_1"}
        assert nodes.b.present("doc_1").project_id == "prj_1"
        nodes.b.move_to("doc_1", "prj_1", ADA, "blk_2", typing=False)  # by the other node
        nodes.settle()
        nodes.a.tell_all()
        nodes.settle()
        assert nodes.a.present("doc_1").places == nodes.b.present("doc_1").places == {"usr_a": "blk_2"}
        nodes.clock.advance(GRACE_S + 1)
        nodes.b.sweep()
        assert nodes.b.present("doc_1").places == {"usr_a": "blk_2"}, "they follow the project, on the other node"
        nodes.a.leave_document("doc_1", "usr_a")  # by yet another
        nodes.settle()
        assert nodes.a.present("doc_1").places == nodes.b.present("doc_1").places == {}


def test_a_place_goes_with_the_connection_to_the_project_on_another_node(nodes: Nodes) -> None:
    with enter(nodes.a, "prj_1", ADA):
        nodes.settle()
        nodes.b.move_to("doc_1", "prj_1", ADA, "blk_1", typing=False)
    nodes.settle()
    nodes.clock.advance(GRACE_S)
    nodes.b.sweep()
    nodes.settle()
    assert nodes.a.present("doc_1").places == nodes.b.present("doc_1").places == {}


def test_many_members_go_in_several_messages() -> None:
    entries: list[list[Any]] = [["thr_1", f"usr_{n}", {"name": "ü" * 100}] for n in range(100)]
    batches = _batches(entries)
    assert [entry for batch in batches for entry in batch] == entries
    assert all(len(orjson.dumps(batch)) <= MOST_BYTES + 2 for batch in batches)
    assert len(batches) > 1


async def test_changes_are_told_by_themselves(nodes: Nodes) -> None:
    async with anyio.create_task_group() as group:
        heard = anyio.Event()
        nodes.b.on_change(lambda _: heard.set())
        group.start_soon(nodes.news[0].run)
        with enter(nodes.a, "thr_1", ADA), anyio.fail_after(5):
            await heard.wait()
            assert names(nodes.b) == ["Ada"]
        group.cancel_scope.cancel()

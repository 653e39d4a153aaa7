"""What is kept of an interactive process's output, for whom, and when the process has to wait."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as some

from outlast_sandbox.providers.local.inside.loop import Loop
from outlast_sandbox.providers.local.inside.main import Connection
from outlast_sandbox.providers.local.inside.outputs import KEPT_BYTES, KEPT_PARTS, PIECE_BYTES, Log, Outputs
from outlast_sandbox.providers.local.inside.sessions import Session


class OneTimer:
    """A loop whose only timer is fired by hand."""

    def __init__(self) -> None:
        self.call: Any = None

    def after(self, _seconds: float, call: Any) -> OneTimer:
        self.call = call
        return self

    def cancel(self) -> None:
        self.call = None


class Reader:
    """A connection that follows; `ask` confirms all it got and asks for more."""

    def __init__(self, outputs: Outputs) -> None:
        self.replies: list[tuple[dict[str, Any], bytes]] = []
        self.session: Session | None = None
        self.skipped = 0
        outputs.follow(cast("Connection", self))
        self.read = self.replies.pop()[0]["offset"]

    def begin(self, session: Session) -> None:
        self.session = session

    def reply(self, payload: bytes = b"", **head: Any) -> None:
        self.replies.append((head, payload))

    def finish(self, **head: Any) -> None:
        self.session = None
        self.replies.append(({"end": True, **head}, b""))

    def ask(self) -> bytes | None:
        """The next piece, None when there is nothing yet."""
        assert self.session is not None
        self.session.proceed({"read": self.read}, b"")
        return self.take()

    def take(self) -> bytes | None:
        if not self.replies:
            return None
        head, payload = self.replies.pop(0)
        if not head["end"]:
            self.read = head["offset"] + len(payload)
            self.skipped = head["skipped"]
        return payload


class Kept:
    """Outputs with a loop of the test's own, and whether reading is on hold."""

    def __init__(self) -> None:
        self.timer = OneTimer()
        self.held = False
        self.outputs = Outputs(cast("Loop", self.timer), self._hold)

    def is_held(self) -> bool:
        return self.held

    def leave(self) -> None:
        """Somebody has followed and is gone."""
        session = Reader(self.outputs).session
        assert session is not None
        session.close()

    def _hold(self, held: bool) -> None:
        self.held = held


@pytest.fixture
def kept() -> Kept:
    return Kept()


@given(some.lists(some.tuples(some.sampled_from(["stdout", "stderr"]), some.binary(min_size=1, max_size=50))))
def test_a_log_gives_back_what_it_got_from_any_place_in_any_pieces(parts: list[tuple[str, bytes]]) -> None:
    log = Log()
    for stream, data in parts:
        log.add(stream, data)
    everything = b"".join(data for _, data in parts)
    for start in range(0, len(everything), 7):
        taken, after = log.take(start, 20)
        assert b"".join(data for _, data in taken) == everything[start:after]
        assert after == min(start + 20, len(everything))
    for stream in ("stdout", "stderr"):
        taken, _ = log.take(0, len(everything))
        assert b"".join(d for s, d in taken if s == stream) == b"".join(d for s, d in parts if s == stream)


def test_for_nobody_the_last_256_kib_are_kept_and_the_process_never_waits(kept: Kept) -> None:
    kept.leave()
    for number in range(100):
        kept.outputs.add("stdout", bytes([number]) * 10_000)
        assert not kept.held
    assert kept.outputs.log.end - kept.outputs.log.start == KEPT_BYTES
    assert Reader(kept.outputs).read == 1_000_000 - KEPT_BYTES


def test_alternating_bytes_of_two_streams_cannot_fill_the_memory(kept: Kept) -> None:
    kept.leave()
    for _ in range(KEPT_PARTS):
        kept.outputs.add("stdout", b"o")
        kept.outputs.add("stderr", b"e")
    assert kept.outputs.log.part_count <= KEPT_PARTS


def test_the_process_waits_for_a_follower_that_lags_and_goes_on_when_it_asks(kept: Kept) -> None:
    reader = Reader(kept.outputs)
    kept.outputs.add("stdout", b"x" * KEPT_BYTES)
    assert kept.is_held()
    got = 0
    while kept.held:
        got += len(reader.ask() or b"")
    assert got == PIECE_BYTES
    kept.outputs.finish(exit_code=0, signal=None)
    assert [len(reader.ask() or b""), reader.ask(), reader.session] == [KEPT_BYTES - PIECE_BYTES, b"", None]


def test_a_follower_that_asks_for_nothing_is_not_waited_for_and_told_what_it_missed(kept: Kept) -> None:
    slow, quick = Reader(kept.outputs), Reader(kept.outputs)
    total = 0
    while not kept.held:
        kept.outputs.add("stdout", b"x" * 60_000)
        total += len(quick.ask() or b"")
    kept.timer.call()
    assert not kept.is_held()
    for _ in range(20):
        kept.outputs.add("stdout", b"y" * 60_000)
        while (data := quick.ask()) is not None:
            total += len(data)
        assert not kept.held, "the quick one is waited for, and it is up to date"
    assert total == kept.outputs.log.end
    assert kept.outputs.log.end - kept.outputs.log.start <= KEPT_BYTES
    missed = len(slow.ask() or b"")
    assert slow.skipped + missed == slow.read
    assert slow.skipped > 0


def test_the_process_waits_a_while_for_its_first_follower(kept: Kept) -> None:
    kept.outputs.add("stdout", b"x" * KEPT_BYTES)
    assert kept.is_held()
    assert Reader(kept.outputs).ask() is not None
    assert not kept.is_held()


def test_a_process_that_nobody_follows_goes_on_after_a_while(kept: Kept) -> None:
    kept.outputs.add("stdout", b"x" * KEPT_BYTES)
    kept.timer.call()
    kept.outputs.add("stdout", b"y" * KEPT_BYTES)
    assert not kept.is_held()
    assert Reader(kept.outputs).read == KEPT_BYTES


def test_what_was_sent_but_not_confirmed_is_for_the_next_follower(kept: Kept) -> None:
    reader = Reader(kept.outputs)
    assert reader.ask() is None
    kept.outputs.add("stdout", b"one")
    assert reader.take() == b"one"
    kept.outputs.add("stdout", b"two")
    assert reader.ask() == b"two"
    assert reader.session is not None
    reader.session.close()
    kept.outputs.add("stdout", b"three")
    assert Reader(kept.outputs).ask() == b"twothree"


def test_every_follower_is_told_the_end_after_the_rest(kept: Kept) -> None:
    first, second = Reader(kept.outputs), Reader(kept.outputs)
    assert first.ask() is None
    kept.outputs.add("stdout", b"x")
    kept.outputs.finish(exit_code=3, signal=None)
    assert [first.take(), first.ask(), second.ask(), second.ask()] == [b"x", b"", b"x", b""]
    assert kept.outputs.followers == []
    assert kept.outputs.end_told

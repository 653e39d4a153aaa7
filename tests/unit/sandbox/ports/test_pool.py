from __future__ import annotations

import socket

from outlast_sandbox.ports.line import Line
from outlast_sandbox.ports.pool import IDLE_LIFE_S, KEPT_PER_PORT, Pool


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def pair() -> tuple[Line, socket.socket]:
    ours, theirs = socket.socketpair()
    return Line(ours), theirs


async def test_a_line_given_back_is_lent_again_for_the_same_port_of_the_same_sandbox():
    pool = Pool()
    line, theirs = pair()
    with theirs:
        pool.give_back("sbx_1", 3000, line)
        assert pool.take("sbx_1", 3001) is None
        assert pool.take("sbx_2", 3000) is None
        assert pool.take("sbx_1", 3000) is line
        assert pool.take("sbx_1", 3000) is None
        line.close()


async def test_a_line_that_was_closed_or_spoken_on_is_not_lent():
    pool = Pool()
    for spoil in (socket.socket.close, lambda theirs: theirs.send(b"x")):
        line, theirs = pair()
        pool.give_back("sbx_1", 3000, line)
        spoil(theirs)
        assert pool.take("sbx_1", 3000) is None
        theirs.close()


async def test_idle_lines_are_closed_after_a_while_and_kept_in_number():
    time = Time()
    pool = Pool(time)
    pairs = [pair() for _ in range(KEPT_PER_PORT + 1)]
    for line, _ in pairs:
        pool.give_back("sbx_1", 3000, line)
    assert len(pool) == KEPT_PER_PORT
    assert pairs[0][1].recv(1) == b""  # the oldest was closed
    time.now += IDLE_LIFE_S
    pool.sweep()
    assert len(pool) == 0
    for _, theirs in pairs:
        assert theirs.recv(1) == b""
        theirs.close()

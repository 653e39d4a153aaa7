"""W5: 100 followers of a live answer lose their connections together, and resume from their cursors together."""

import select
import socket

import anyio

from bench.client import Follower, Tally, now_ms, percentile
from bench.figures import Figure
from bench.model_server import order
from bench.rig import Rig

FOLLOWERS, RATE, AWAY_S = 100, 50, 1.0


async def measure(rig: Rig) -> list[Figure]:
    tally = Tally()
    run_id = await rig.api.start(order(12 * RATE, RATE, first_ms=500))
    followers = [await rig.follow(run_id, tally) for _ in range(FOLLOWERS)]
    await anyio.sleep(2)
    for follower in followers:
        follower.drop()
    await anyio.sleep(AWAY_S)
    times = _resume_all(rig.server.port, followers)
    await anyio.sleep(0.5)
    alone: list[float] = []
    for follower in followers[:20]:
        follower.drop()
        await anyio.sleep(0.06)
        await _resume(follower, alone)
    await anyio.sleep(1)
    for follower in followers:
        follower.drop()
    return [
        Figure("all at once: caught up p50", percentile(times, 0.5), "ms", 10),
        Figure("all at once: caught up by the last", percentile(times, 1), "ms"),
        Figure("one by one: caught up p50", percentile(alone, 0.5), "ms"),
        Figure("events lost or doubled", tally.lost + tally.doubled, "events", 0),
    ]


def _resume_all(port: int, followers: list[Follower]) -> list[float]:
    """Times from connecting to the first read with the missed events (they arrive in one read), for each follower.

    Plain sockets and epoll: an event loop would take longer to make a hundred connections than the server to serve
    them. Blocks this process, which has nothing else to do, for a second.
    """
    sockets: dict[int, tuple[socket.socket, Follower, float]] = {}
    times: list[float] = []

    def read(wait_s: float) -> None:
        for number, _ in poll.poll(wait_s):
            connection, follower, began = sockets[number]
            data, now = connection.recv(2**20), now_ms()
            waiting = not follower.first_ns
            follower.data_received(data)
            if waiting and follower.first_ns:
                times.append(now - began)

    with select.epoll() as poll:
        for follower in followers:
            began = now_ms()
            connection = socket.create_connection(("127.0.0.1", port))
            connection.sendall(follower.request(follower.last_id))
            sockets[connection.fileno()] = (connection, follower, began)
            poll.register(connection, select.EPOLLIN)
            read(0)
        until = now_ms() + 1000
        while now_ms() < until:
            read(0.05)
    for connection, _, _ in sockets.values():
        connection.close()
    return times


async def _resume(follower: Follower, times: list[float]) -> None:
    """The time from connecting to the first read with the missed events (they arrive in one read)."""
    began = now_ms()
    await follower.resume()
    with anyio.move_on_after(10):
        await follower.first_token()
        times.append(now_ms() - began)

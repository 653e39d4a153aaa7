"""What the server takes from a relay, which may be hostile: nothing that is not bounded."""

from __future__ import annotations

import asyncio
import struct

import anyio
import pytest

from outlast_sandbox.providers.hosts.multiplex import ChannelStream, Multiplex
from outlast_sandbox.providers.local.inside.channels import DATA, HEAD, OPEN, OPENED, WINDOW


class Writer:
    """Keeps nothing."""

    def write(self, _data: bytes) -> None: ...
    async def drain(self) -> None: ...
    def close(self) -> None: ...


def frame(number: int, kind: int, payload: bytes = b"") -> bytes:
    inner = HEAD.pack(number, kind, len(payload)) + payload
    return struct.pack("!B3xI", 1, len(inner)) + inner


def made(arrivals: list[ChannelStream]) -> tuple[asyncio.StreamReader, Multiplex]:
    reader = asyncio.StreamReader()
    return reader, Multiplex((reader, Writer()), arrivals.append)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "hostile",
    [
        frame(2, OPEN) + frame(2, OPEN),
        frame(3, OPEN),
        b"".join(frame(2 * n, OPEN) for n in range(1, 2000)),
        frame(2, OPEN) + frame(2, DATA, bytes(WINDOW)) + frame(2, DATA, b"x"),
        struct.pack("!B3xI", 1, HEAD.size) + HEAD.pack(2, DATA, 1 << 31),
    ],
    ids=["twice", "a number of ours", "too many", "more than the window", "too long"],
)
async def test_a_relay_that_breaks_the_rules_is_cut_off(hostile: bytes) -> None:
    arrivals: list[ChannelStream] = []
    reader, multiplex = made(arrivals)
    reader.feed_data(hostile)
    with anyio.fail_after(5):
        await multiplex.over.wait()
    with pytest.raises(ConnectionError):
        await multiplex.open("agent")


async def test_what_the_relay_complains_of_is_kept_and_bounded() -> None:
    reader, multiplex = made([])
    reader.feed_data(struct.pack("!B3xI", 2, 5000) + b"y" * 4990 + b"no python3")
    reader.feed_eof()
    with anyio.fail_after(5):
        await multiplex.over.wait()
    assert multiplex.complaint.endswith(b"no python3")
    assert len(multiplex.complaint) == 2000


async def test_data_arrives_in_order_and_ends_with_the_stream() -> None:
    reader, multiplex = made([])
    reader.feed_data(frame(1, OPENED) + frame(1, DATA, b"one") + frame(1, DATA, b"two"))
    channel = ChannelStream(multiplex, 1)
    multiplex._channels[1] = channel
    await channel.opened
    assert [await channel.receive(), await channel.receive(2), await channel.receive()] == [b"one", b"tw", b"o"]
    multiplex.close()
    assert multiplex.over.is_set()

"""HTTP and WebSockets, from a browser to what listens inside and back."""

from __future__ import annotations

import os

import aiohttp
import anyio
import pytest

from outlast.kernel.http.stream_limits import StreamPlaces
from tests.flow.preview.conftest import Inside
from tests.flow.preview.rig import PORT, Scene


async def test_a_request_goes_in_as_it_came_and_says_where_from(scene: Scene):
    cookie = await scene.cookie(scene.team.editor)
    answer = await scene.get("/a%20b/c?x=1&y=%2F", cookie, accept="text/html", x_own="1")
    told = await answer.json()
    assert (answer.status, told["method"], told["path"]) == (200, "GET", "/a%20b/c?x=1&y=%2F")
    headers = dict(told["headers"])
    assert headers["host"] == headers["x-forwarded-host"] == scene.host
    assert headers["x-forwarded-for"] == "127.0.0.1"
    assert headers["x-forwarded-proto"] == "http"
    assert headers["x-own"] == "1"


async def test_what_is_outlasts_own_never_goes_inside(scene: Scene):
    cookie = await scene.cookie(scene.team.editor)
    cookies = f"outlast_session=abc; {cookie}; theirs=2; __Host-outlast_preview=x"
    answer = await scene.get("/", cookies, authorization="Bearer ol_secret", x_forwarded_for="6.6.6.6")
    headers = (await answer.json())["headers"]
    assert [value for name, value in headers if name == "cookie"] == ["theirs=2"]
    assert "authorization" not in dict(headers)
    assert [value for name, value in headers if name == "x-forwarded-for"] == ["127.0.0.1"]
    own = await scene.get("/", cookie, authorization="Bearer eyJ")
    assert dict((await own.json())["headers"])["authorization"] == "Bearer eyJ"


async def test_what_is_set_inside_stays_with_its_preview(scene: Scene):
    answer = await scene.get("/cookies", await scene.cookie(scene.team.editor))
    assert answer.headers.getall("set-cookie") == ["mine=1; Path=/; HttpOnly"]
    assert "clear-site-data" not in answer.headers
    assert "x-frame-options" not in answer.headers
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("frame-ancestors 'self' ")
    assert f"http://localhost:{scene.server_port}" in policy
    assert "http://localhost:8400" in policy  # who opened it


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_goes_in_whole(scene: Scene, inside: Inside, chunked: bool):
    async def pieces():
        for number in range(64):
            yield bytes([number]) * 65_536

    cookie = await scene.cookie(scene.team.editor)
    whole = b"".join([piece async for piece in pieces()])
    answer = await scene.call("PUT", "/up", cookie, pieces() if chunked else whole)
    assert (await answer.json())["bytes"] == len(whole)
    assert inside.bodies[-1] == whole


async def test_a_large_answer_comes_out_whole(scene: Scene):
    answer = await scene.get("/large", await scene.cookie(scene.team.editor))
    assert await answer.read() == b"y" * 64 * 65_536


async def test_an_answer_before_the_whole_body_is_passed_on(scene: Scene):
    stop = anyio.Event()

    async def endless():
        yield b"x" * 65_536
        await stop.wait()

    answer = await scene.call("POST", "/early", await scene.cookie(scene.team.editor), endless())
    assert (answer.status, await answer.text()) == (413, "too much")
    stop.set()


async def test_a_head_request_has_no_body_and_the_next_one_reuses_the_line(scene: Scene):
    cookie = await scene.cookie(scene.team.editor)
    head = await scene.call("HEAD", "/file", cookie)
    assert (head.status, head.headers["content-length"], await head.read()) == (206, "10", b"")
    for _ in range(3):
        assert (await scene.get("/", cookie)).status == 200
    assert scene.box.dialled == 1


async def test_ranges_and_continuing_are_understood(scene: Scene):
    cookie = await scene.cookie(scene.team.editor)
    part = await scene.get("/file", cookie, range="bytes=2-4")
    assert (part.status, await part.read()) == (206, b"234")
    sent = {"host": scene.host, "cookie": cookie}
    async with scene.client.post(f"{scene.url}/", headers=sent, data=b"abc", expect100=True) as answer:
        told = await answer.json()
    assert told["bytes"] == 3
    assert "expect" not in dict(told["headers"])


async def test_events_come_out_as_they_are_sent(scene: Scene, inside: Inside):
    answer = await scene.get("/events", await scene.cookie(scene.team.editor))
    assert await answer.content.readuntil(b"\n\n") == b"data: one\n\n"
    inside.go_on.set()
    assert await answer.content.readuntil(b"\n\n") == b"data: two\n\n"


async def test_an_answer_that_breaks_off_is_seen_to_be_broken(scene: Scene):
    answer = await scene.get("/broken", await scene.cookie(scene.team.editor))
    with pytest.raises(aiohttp.ClientError):
        await answer.read()


async def test_a_line_closed_while_idle_is_replaced(scene: Scene, inside: Inside):
    cookie = await scene.cookie(scene.team.editor)
    assert (await scene.get("/", cookie)).status == 200
    transport = inside.requests[-1].transport
    assert transport is not None
    transport.close()
    assert (await scene.get("/", cookie)).status == 200
    assert scene.box.dialled == 2


async def test_something_that_speaks_no_http_is_named(scene: Scene):
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        scene.box.ports[PORT] = port

        async def greet(stream: anyio.abc.SocketStream) -> None:
            async with stream:
                await stream.receive()
                await stream.send(b"220 mail ready\r\n")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, greet)
            answer = await scene.get("/", await scene.cookie(scene.team.editor), accept="text/html")
            assert answer.status == 502
            assert "does not speak HTTP/1.1" in await answer.text()
            tasks.cancel_scope.cancel()


async def test_a_web_socket_talks_both_ways_in_its_own_protocol(scene: Scene, inside: Inside):
    cookie = await scene.cookie(scene.team.editor)
    socket = await scene.web_socket("/ws", cookie, protocols=("vite-hmr",))
    assert socket.protocol == "vite-hmr"
    await socket.send_str("hello")
    assert await socket.receive_str() == "heard hello"
    await socket.send_bytes(b"z" * 1_000_000)
    assert await socket.receive_bytes() == b"z" * 1_000_000
    await socket.send_str("bye")
    closing = await socket.receive()
    assert (closing.data, closing.extra) == (4321, "as you wish")
    assert "cookie" not in inside.requests[-1].headers


async def test_a_browser_that_closes_its_web_socket_tells_the_other_side(scene: Scene, inside: Inside):
    socket = await scene.web_socket("/ws", await scene.cookie(scene.team.editor))
    await socket.close(code=4000)
    while inside.closed is None:
        await anyio.lowlevel.checkpoint()
    assert inside.closed == 4000


async def test_a_refused_web_socket_is_answered_as_the_app_does(scene: Scene):
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await scene.web_socket("/no-such", await scene.cookie(scene.team.editor))
    assert refused.value.status == 200


async def test_visitors_who_leave_in_the_middle_leave_nothing_behind(scene: Scene):
    cookie = await scene.cookie(scene.team.editor)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        events = await scene.get("/events", cookie)
        await events.content.readuntil(b"\n\n")
        events.close()
        socket = await scene.web_socket("/ws", cookie)
        await socket.close()
    while scene.layer.statistics()["open"]:
        await anyio.lowlevel.checkpoint()
    scene.layer.waker.pool.close()
    with anyio.fail_after(60):
        while len(os.listdir("/proc/self/fd")) > before + 2:  # what the client keeps for itself
            await anyio.lowlevel.checkpoint()


async def test_one_visitor_has_so_many_answers_open_at_once(scene: Scene, inside: Inside):
    """A page that opens streams without an end holds up no other visitor, and is told of it."""
    scene.layer.places = StreamPlaces(2)
    cookie, other = await scene.cookie(scene.team.owner), await scene.cookie(scene.team.editor)
    events = await scene.get("/events", cookie)
    assert await events.content.readline() == b"data: one\n"
    socket = await scene.web_socket("/ws", cookie)
    refused = await scene.get("/", cookie)
    assert refused.status == 429
    assert "limits.streams_per_user" in await refused.text()
    with pytest.raises(aiohttp.WSServerHandshakeError) as turned_away:
        await scene.web_socket("/ws", cookie)
    assert turned_away.value.status == 429
    assert (await scene.get("/", other)).status == 200
    inside.go_on.set()
    await events.read()
    await socket.close()
    with anyio.fail_after(30):
        while (await scene.get("/", cookie)).status == 429:  # noqa: ASYNC110 - the server sees when they leave
            await anyio.sleep(0.01)

"""A visit wakes what sleeps, and a person is told what is being waited for."""

from __future__ import annotations

import aiohttp
import anyio
import pytest
import sqlalchemy as sa

from outlast.base.errors import SandboxUnavailable
from outlast.db.database import Tx
from outlast.kernel.previews import preview_layer, waiting_page
from outlast.kernel.previews import wake as waking
from outlast.kernel.sandboxes.tables import services
from tests.flow.preview.rig import PORT, Scene

PAGE = {"sec_fetch_mode": "navigate", "sec_fetch_site": "none", "accept": "text/html"}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits are told at once, so that no test waits for real."""
    monkeypatch.setattr(preview_layer, "PAGE_PATIENCE_S", 0.2)
    monkeypatch.setattr(preview_layer, "PATIENCE_S", 0.3)
    monkeypatch.setattr(waking, "RECORD_AFTER_S", 0.0)


async def declare(scene: Scene, state: str) -> None:
    def run(tx: Tx) -> None:
        row = {
            "workspace_id": scene.machines.row.workspace_id,
            "name": "web",
            "command": "npm run dev",
            "port": PORT,
            "health_path": "",
            "state": state,
            "error": "It ended with exit code 1.\nError: no such script",
        }
        tx.execute(sa.insert(services).values(**row, created_at=tx.now, changed_at=tx.now))

    await scene.services.db.write(run)


@pytest.mark.parametrize("state", ["frozen", "stopped"])
async def test_a_visit_wakes_it_once(scene: Scene, state: str):
    cookie = await scene.cookie(scene.team.editor)
    scene.machines.sleep(state)
    for _ in range(3):
        assert (await scene.get("/", cookie, **PAGE)).status == 200
    assert scene.machines.asked == [f"ensure while {state}"]


async def test_many_visits_at_once_wake_it_once(scene: Scene):
    cookie = await scene.cookie(scene.team.editor)
    scene.machines.sleep("stopped")
    statuses: list[int] = []

    async def visit() -> None:
        statuses.append((await scene.get("/", cookie)).status)

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(visit)
    assert statuses == [200] * 10
    assert scene.machines.asked == ["ensure while stopped"]


async def test_a_frozen_one_answers_before_it_is_written_down_that_it_wakes(scene: Scene):
    cookie = await scene.cookie(scene.team.editor)
    scene.machines.sleep("frozen")
    scene.machines.gate = anyio.Event()
    assert (await scene.get("/", cookie)).status == 200
    assert (scene.box.thaws, scene.machines.state) == (1, "frozen")
    scene.machines.gate.set()


async def test_while_it_starts_a_person_sees_a_page_that_loads_again(scene: Scene):
    cookie = await scene.cookie(scene.team.editor)
    scene.machines.sleep("stopped")
    scene.machines.gate = anyio.Event()
    page = await scene.get("/", cookie, **PAGE)
    assert (page.status, page.headers["retry-after"]) == (503, "1")
    text = await page.text()
    assert "Starting…" in text
    assert '<meta http-equiv="refresh" content="1">' in text
    program = await scene.get("/api", cookie, sec_fetch_mode="cors", sec_fetch_site="same-origin")
    assert (program.status, program.headers["content-type"]) == (503, "text/plain; charset=utf-8")
    scene.machines.gate.set()
    assert (await scene.get("/", cookie, **PAGE)).status == 200
    assert scene.machines.asked == ["ensure while stopped"]  # whoever left did not end it


async def test_a_port_that_is_silent_yet_says_what_is_waited_for(scene: Scene):
    cookie = await scene.cookie(scene.team.editor)
    await declare(scene, "starting")
    listening = scene.box.ports.pop(PORT)
    page = await scene.get("/", cookie, **PAGE)
    assert page.status == 503
    assert "Waiting for the service web to listen on port 3000" in await page.text()
    scene.box.ports[PORT] = listening
    assert (await scene.get("/", cookie, **PAGE)).status == 200


async def test_a_service_that_failed_is_named_with_the_end_of_its_output(scene: Scene):
    cookie = await scene.cookie(scene.team.editor)
    await declare(scene, "failed")
    scene.box.ports.clear()
    page = await scene.get("/", cookie, **PAGE)
    text = await page.text()
    assert "The service web has failed" in text
    assert "Error: no such script" in text


async def test_after_a_while_it_says_what_to_do(scene: Scene, monkeypatch: pytest.MonkeyPatch):
    cookie = await scene.cookie(scene.team.editor)
    scene.box.ports.clear()
    monkeypatch.setattr(waiting_page, "GIVE_UP_S", 0.1)
    page = await scene.get("/", cookie, **PAGE)
    text = await page.text()
    assert "Nothing answers on port 3000" in text
    assert "Start a server that listens on 127.0.0.1:3000" in text
    assert "refresh" not in text


async def test_a_sandbox_that_cannot_be_had_says_why(scene: Scene):
    cookie = await scene.cookie(scene.team.editor)
    scene.machines.sleep("stopped")
    scene.machines.error = SandboxUnavailable("There is no room <here>.", hint="Free some.")
    text = await (await scene.get("/", cookie, **PAGE)).text()
    assert "There is no room &lt;here&gt;." in text
    assert "Free some." in text


async def test_a_web_socket_thaws_but_restarts_nothing(scene: Scene):
    """A forgotten tab tries to connect again for ever; it must not keep starting its sandbox."""
    cookie = await scene.cookie(scene.team.editor)
    scene.machines.sleep("frozen")
    await scene.web_socket("/ws", cookie)
    scene.machines.sleep("stopped")
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await scene.web_socket("/ws", cookie)
    assert refused.value.status == 503
    assert scene.machines.asked == ["find while frozen", "find while stopped"]


async def test_words_on_an_open_web_socket_are_a_use_and_beats_are_none(scene: Scene):
    socket = await scene.web_socket("/ws", await scene.cookie(scene.team.editor))
    scene.machines.sleep("frozen")
    await socket.send_str('{"type":"ping"}')
    await socket.receive_str()
    assert scene.machines.asked == []
    await socket.send_str("hello")
    await socket.receive_str()
    assert scene.machines.asked == ["ensure while frozen"]


async def test_a_server_inside_that_went_silent_in_its_sleep_is_woken_while_a_request_waits(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
):
    """It was put to sleep between the look at it and the request: without another look both would wait for ever."""
    from outlast.kernel.previews import proxy as proxying

    monkeypatch.setattr(proxying, "AWAKE_CHECK_S", 0.05)
    cookie = await scene.cookie(scene.team.editor)
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        scene.box.ports[PORT] = listener.extra(anyio.abc.SocketAttribute.local_port)
        asleep = anyio.Event()

        async def answer_once_awake(stream: anyio.abc.SocketStream) -> None:
            async with stream:
                await stream.receive()
                scene.machines.sleep("frozen")
                asleep.set()
                while scene.machines.state != "awake":
                    await anyio.lowlevel.checkpoint()
                await stream.send(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, answer_once_awake)
            assert await (await scene.get("/", cookie)).text() == "ok"
            assert asleep.is_set()
            tasks.cancel_scope.cancel()

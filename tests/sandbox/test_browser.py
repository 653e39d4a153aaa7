"""A real Chromium in a real sandbox looks at pages in another one: what it sees, what it cannot reach, what stays."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import psutil
import pytest

from outlast.base.clock import Clock, SystemClock
from outlast.base.errors import SandboxLost
from outlast.kernel.sandboxes.screen_settings import ScreenSettings
from outlast.kernel.sandboxes.studio import ServerStudio, open_studio
from outlast.testing.clock import ManualClock
from outlast_sandbox.browser import browsers as keeping
from outlast_sandbox.browser import studio as looking
from outlast_sandbox.browser.browsers import Browsers, RunningBrowser
from outlast_sandbox.browser.chromium import find_browser
from outlast_sandbox.browser.single_target_proxy import SingleTargetProxy
from outlast_sandbox.browser.studio import Studio
from outlast_sandbox.interface import Command, SandboxSpec
from outlast_sandbox.providers.local.provider import LocalProvider
from outlast_sandbox.providers.local.sandbox import LocalSandbox, State
from tests.sandbox.pages import PORT, Page, page, script, serve_pages

pytestmark = [pytest.mark.sandbox, pytest.mark.browser]
CHROMIUM = find_browser()
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt install chromium")


@asynccontextmanager
async def working(
    folder: Path, cache_dir: Path, clock: Clock | None = None, program: Path | None = CHROMIUM
) -> AsyncIterator[Studio]:
    studio = ServerStudio(clock or SystemClock(), folder, cache_dir, program)
    async with anyio.create_task_group() as tasks:
        await tasks.start(studio.run)
        with anyio.fail_after(120):
            yield studio
        tasks.cancel_scope.cancel()


def held(studio: Studio) -> Browsers[SingleTargetProxy]:
    assert studio.browsers is not None
    return studio.browsers


def at_hand(studio: Studio) -> list[RunningBrowser[SingleTargetProxy]]:
    return held(studio)._all


def first_pixel(png: bytes) -> tuple[int, int, tuple[int, ...]]:
    """Width, height, and the colour in the upper left corner: no filter of PNG changes the very first pixel."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert (depth, kind) in ((8, 2), (8, 6))
    data, at = b"", 8
    while at < len(png):
        size = int.from_bytes(png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + size]
        at += size + 12
    return width, height, tuple(zlib.decompress(data)[1:4])


def remains(folder: Path) -> list[str]:
    """What is left of browsers: folders, and processes that work in them."""
    found = [str(path) for path in folder.glob("*/*")]
    for process in psutil.process_iter():
        try:
            if process.cwd().startswith(str(folder)):
                found.append(f"process {process.pid}")
        except (psutil.Error, OSError):
            continue
    return found


@needs_chromium
async def test_a_picture_shows_the_page_in_the_size_that_was_asked_for_and_the_browser_stays_at_hand(
    tmp_path: Path, cache_dir: Path, box: LocalSandbox
) -> None:
    pages = {
        "/": page("<body style='margin:0;background:#1e90ff'><h1>Hello</h1><script>alert('stop')</script>"),
        "/red": page("<body style='background:rgb(200,10,20)'>"),
    }
    await serve_pages(box, pages)
    async with working(tmp_path / "browsers", cache_dir) as studio:
        look = await studio.look(box, PORT, "/", 640, 400)
        assert (look.status, look.errors, look.note) == (200, (), "")
        assert look.picture is not None
        assert first_pixel(look.picture) == (640, 400, (0x1E, 0x90, 0xFF))
        (browser,) = at_hand(studio)
        other = await studio.look(box, PORT, "/red", 300, 200)
        assert other.picture is not None
        assert first_pixel(other.picture) == (300, 200, (200, 10, 20))
        assert at_hand(studio) == [browser], "the same browser looked again"
    assert remains(tmp_path / "browsers") == []


@needs_chromium
async def test_what_a_page_throws_or_cannot_load_is_told_with_its_words(
    tmp_path: Path, cache_dir: Path, box: LocalSandbox
) -> None:
    pages = {
        "/throws": page("<script>function draw() { throw new TypeError('no chart data') }\ndraw()</script>"),
        "/later": page("<script>Promise.reject(new Error('too late')); console.error('only a hint', 7)</script>"),
        "/module": page("<script type=module src=/broken.js></script><img src=http://elsewhere.example/gone.png>"),
        "/broken.js": script("oh", 500),
    }
    await serve_pages(box, pages)
    async with working(tmp_path / "browsers", cache_dir) as studio:
        throws = await studio.look(box, PORT, "/throws", 400, 300)
        assert "TypeError: no chart data" in throws.errors[0]
        assert "draw" in throws.errors[0]
        assert throws.picture is not None
        later = await studio.look(box, PORT, "/later", 400, 300)
        assert "Error: too late" in later.errors[0]
        assert later.console == ("only a hint 7",)
        module = await studio.look(box, PORT, "/module", 400, 300)
        assert any("/broken.js" in error and "500" in error for error in module.errors)
        assert not any("/gone" in error for error in module.errors), "addresses elsewhere are no fault of the page"


@needs_chromium
@pytest.mark.parametrize("path", ["/busy", "/never"])
async def test_a_page_without_an_end_hits_the_limit_and_its_browser_ends(
    tmp_path: Path, cache_dir: Path, box: LocalSandbox, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(looking, "LOOK_S", 3.0)
    never: Page = (200, "text/html", "NEVER")
    pages = {"/busy": page("<script>while (true) {}</script>"), "/never": never, "/": page("fine")}
    await serve_pages(box, pages)
    async with working(tmp_path / "browsers", cache_dir) as studio:
        look = await studio.look(box, PORT, path, 400, 300)
        assert look.picture is None
        assert "did not finish loading" in look.errors[-1]
        assert look.note
        for browser in at_hand(studio):
            await browser.closed.wait()
        assert remains(tmp_path / "browsers") == []
        monkeypatch.setattr(looking, "LOOK_S", 25.0)
        assert (await studio.look(box, PORT, "/", 400, 300)).picture is not None


REACH = """<script>
const names = %s
Promise.all(names.map(url => fetch(url, { mode: 'no-cors' }).then(() => `reached ${url}`, () => '')))
  .then(found => console.error('done', found.filter(text => text !== '').join(' ')))
</script>"""


@needs_chromium
async def test_a_page_reaches_its_own_port_and_nothing_else(tmp_path: Path, cache_dir: Path, box: LocalSandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        wanted = [
            *(f"http://127.0.0.1:{port}/", f"http://localhost:{port}/", f"http://[::1]:{port}/"),
            *("http://169.254.169.254/", "http://example.com/", "http://127.0.0.1:3001/", "file:///etc/passwd"),
        ]
        await serve_pages(box, {"/": page(REACH % wanted), "/own": page(REACH % ["/other"]), "/other": page("")})
        second = "python3 -m http.server 3001 > /dev/null 2>&1 & sleep 0.3"
        await box.run(Command("eff_second", 1, second, timeout_s=60))
        async with working(tmp_path / "browsers", cache_dir) as studio:
            look = await studio.look(box, PORT, "/", 400, 300)
            assert [text for text in look.console if text.startswith("done")] == ["done"]
            own = await studio.look(box, PORT, "/own", 400, 300)
            assert any("reached /other" in text for text in own.console)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.deep
@needs_chromium
async def test_a_browser_closes_after_a_minute_and_makes_room_for_others(
    tmp_path: Path, cache_dir: Path, local: LocalProvider, spec: SandboxSpec
) -> None:
    boxes = []
    for number in range(3):
        one = replace(spec, sandbox_id=f"{spec.sandbox_id}{number}", workspace_dir=tmp_path / f"app{number}")
        boxes.append(await local.create(one))
        await serve_pages(boxes[-1], {"/": page(f"<h1>{number}</h1>")})
    clock = ManualClock()
    async with working(tmp_path / "browsers", cache_dir, clock) as studio:
        for box in boxes:
            assert (await studio.look(box, PORT, "/", 300, 200)).picture is not None
            clock.advance(1)
        serving = [browser.serves[0] for browser in at_hand(studio)]
        assert serving == [box.sandbox_id for box in boxes[1:]], "the one not used for longest went"
        last = at_hand(studio)
        clock.advance(keeping.IDLE_S + 5)
        for browser in list(last):
            await browser.closed.wait()
        assert at_hand(studio) == []
        assert remains(tmp_path / "browsers") == []


@needs_chromium
async def test_a_sandbox_that_goes_away_under_the_look_is_lost_to_the_caller(
    tmp_path: Path, cache_dir: Path, box: LocalSandbox
) -> None:
    await serve_pages(box, {"/": (200, "text/html", "NEVER")})
    async with working(tmp_path / "browsers", cache_dir) as studio:

        async def end() -> None:
            while not at_hand(studio):  # noqa: ASYNC110 - it shows nothing that could be waited for
                await anyio.sleep(0.02)
            await box.kill()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(end)
            with pytest.raises(SandboxLost):
                await studio.look(box, PORT, "/", 400, 300)


KILLED = """
import anyio, sys
from pathlib import Path
from outlast_sandbox.browser.chromium import find_browser
from outlast_sandbox.browser.single_target_proxy import SingleTargetProxy
from outlast_sandbox.browser.studio import Studio
from outlast_sandbox.clock import SystemClock

async def main():
    studio = Studio(SystemClock(), Path(sys.argv[1]), Path(sys.argv[2]), find_browser())
    async with anyio.create_task_group() as tasks:
        await tasks.start(studio.run)
        await studio.browsers.take(("sbx_1", 3000))
        print("ready", flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


@needs_chromium
async def test_a_killed_server_leaves_a_browser_that_the_next_one_ends(tmp_path: Path, cache_dir: Path) -> None:
    folder = tmp_path / "browsers"
    command = [sys.executable, "-c", KILLED, str(folder), str(cache_dir)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: ASYNC220 - killed by the test itself
    assert server.stdout is not None
    try:
        assert await anyio.to_thread.run_sync(server.stdout.readline) == b"ready\n"
    finally:
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
        server.stdout.close()
    (state_dir,) = (folder / "state").iterdir()
    state = State.read(state_dir)
    assert state is not None
    assert state.is_alive()
    async with working(folder, cache_dir):
        assert not state.is_alive()
        assert not state.group.exists()
        assert remains(folder) == []


async def test_without_chromium_requests_tell_what_they_can_and_the_note_says_why_there_is_no_picture(
    tmp_path: Path, cache_dir: Path, box: LocalSandbox
) -> None:
    next_error = '<template data-next-error-message="Can&#x27;t resolve &quot;@/x&quot;"></template>'
    pages = {
        "/": page("<script type=module src=/main.tsx></script><script type=module src=/@vite/client></script>"),
        "/main.tsx": script('import React from "/node_modules/.vite/deps/react.js"\nimport "/app/page.tsx"'),
        "/app/page.tsx": script("[plugin:vite:oxc] Expected `}` but found `EOF`", 500),
        "/next": page(next_error, 500),
        "/fine": page("<h1>Hello</h1>"),
    }
    await serve_pages(box, pages)
    async with working(tmp_path / "browsers", cache_dir, program=None) as studio:
        broken = await studio.look(box, PORT, "/", 400, 300)
        assert broken.picture is None
        assert "Chromium is not installed" in broken.note
        assert broken.status == 200
        assert broken.errors == ("/app/page.tsx: status 500. [plugin:vite:oxc] Expected `}` but found `EOF`",)
        next_page = await studio.look(box, PORT, "/next", 400, 300)
        assert (next_page.status, next_page.errors) == (
            500,
            ('The page answered with status 500. Can\'t resolve "@/x"',),
        )
        fine = await studio.look(box, PORT, "/fine", 400, 300)
        assert (fine.status, fine.errors) == (200, ())
        silent = await studio.look(box, PORT + 9, "/", 400, 300)
        assert (silent.status, silent.errors) == (None, (f"Nothing answers on port {PORT + 9}.",))


async def test_a_browser_that_does_not_start_is_told_of_once_and_not_tried_again_for_a_while(
    tmp_path: Path, cache_dir: Path, box: LocalSandbox
) -> None:
    await serve_pages(box, {"/": page("<h1>Hello</h1>", 404)})
    async with working(tmp_path / "browsers", cache_dir, ManualClock(), Path("/usr/bin/false")) as studio:
        first = await studio.look(box, PORT, "/", 400, 300)
        assert (first.picture, first.status) == (None, 404)
        assert first.errors == ("The page answered with status 404. Hello",)
        assert "Chromium did not start" in first.note
        taken = held(studio).take
        calls: list[object] = []

        async def counted(serves: tuple[str, int]) -> RunningBrowser[SingleTargetProxy]:
            calls.append(serves)
            return await taken(serves)

        held(studio).take = counted  # type: ignore[method-assign]
        assert (await studio.look(box, PORT, "/", 400, 300)).note == first.note
        assert calls == []
    assert remains(tmp_path / "browsers") == []


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (ScreenSettings(pictures=False), "screens.pictures"),
        (ScreenSettings(browser="/nowhere/chrome"), "screens.browser is /nowhere/chrome"),
    ],
)
async def test_the_settings_decide_whether_there_are_pictures_and_the_note_names_them(
    tmp_path: Path, box: LocalSandbox, settings: ScreenSettings, reason: str
) -> None:
    await serve_pages(box, {"/": page("<h1>Hello</h1>")})
    studio = open_studio(settings, SystemClock(), tmp_path)
    look = await studio.look(box, PORT, "/", 400, 300)
    assert (look.picture, look.status, look.errors) == (None, 200, ())
    assert reason in look.note

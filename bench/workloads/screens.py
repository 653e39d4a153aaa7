"""Screens: from opening one until its app is visible and responds, in Chromium through its preview; with a stopped, a
frozen and a new sandbox."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
from playwright.async_api import Browser, async_playwright

from bench.client import now_ms, percentile
from bench.figures import Figure
from bench.workloads.previews import nothing
from outlast.app import Program, open_program
from outlast.apps.screens.actions import create_screen
from outlast.apps.screens.shapes import ScreenData, ScreenRequest, TemplateName
from outlast.kernel.accounts import actions as accounts
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.http.event_stream import OpenStreams
from outlast.kernel.http.readiness import Readiness
from outlast.kernel.http.surface import Surface
from outlast.kernel.previews.actions import open_preview
from outlast.kernel.previews.preview_layer import PreviewLayer
from outlast.kernel.projects.store import ensure_default_project
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.templates import DEV_PORT
from outlast.kernel.settings import Settings
from outlast.kernel.streams.settings import StreamSettings
from outlast.surfaces.http.server import HttpServer, bind

GOALS_MS: dict[TemplateName, float] = {"vite": 5_000.0, "next": 10_000.0}
PATIENCE_MS = 120_000
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FIRST_WORDS = "Describe what you want"  # the heading of a new screen's page
LIVE = """
() => {
  const heading = document.querySelector("h1");
  return heading && Object.keys(heading).some((key) => key.startsWith("__reactFiber"));
}
"""


async def measure(quick: bool) -> list[Figure]:
    rounds = 3 if quick else 7
    program_file = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if program_file is None:
        return [Figure("no Chromium on this machine", float("nan"), "ms")]
    pinned = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))  # sandboxes inherit it, and a dev server wants more than one
    try:
        async with async_playwright() as playwright, _served() as (program, machines, owner, port):
            browser = await playwright.chromium.launch(executable_path=program_file, args=["--disable-gpu"])
            figures = []
            for template in GOALS_MS:
                figures += await Visits(program, machines, owner, port, browser).of(template, rounds)
            await browser.close()
            return figures
    finally:
        os.sched_setaffinity(0, pinned)


class Visits:
    """Visits of screens, each in a new browser context."""

    def __init__(self, program: Program, machines: SandboxManager, owner: Actor, port: int, browser: Browser) -> None:
        self._services, self._machines, self._owner = program.services, machines, owner
        self._port, self._browser = port, browser

    async def of(self, template: TemplateName, rounds: int) -> list[Figure]:
        screen = await self._screen(template)
        workspace = screen.workspace_id
        await self._machines.ensure(workspace, screen.project_id)  # the snapshot is built now, if ever
        await self._visit(screen)
        made: list[float] = []
        stopped: list[float] = []
        frozen: list[float] = []
        for _ in range(rounds):  # in turn, so that a slow moment of the machine hits all
            await self._machines.stop(workspace)
            stopped.append(await self._visit(screen))
            await self._machines.freeze(workspace)
            frozen.append(await self._visit(screen))
            another = await self._screen(template)
            made.append(await self._visit(another))
            await self._machines.kill(another.workspace_id)
        await self._machines.kill(workspace)
        return [
            Figure(
                f"{template}: opened while stopped, to a live page p50",
                percentile(stopped, 0.5),
                "ms",
                GOALS_MS[template],
            ),
            Figure(f"{template}: the same, slowest", percentile(stopped, 1), "ms"),
            Figure(f"{template}: new screen, sandbox from the snapshot p50", percentile(made, 0.5), "ms"),
            Figure(f"{template}: opened while frozen p50", percentile(frozen, 0.5), "ms"),
        ]

    async def _screen(self, template: TemplateName) -> ScreenData:
        project_id = await self._services.db.write(ensure_default_project, self._owner.user_id)
        return await create_screen(self._services, self._owner, project_id, ScreenRequest(template=template))

    async def _visit(self, screen: ScreenData) -> float:
        """The time from the click to a hydrated page, in ms."""
        window = await self._browser.new_context()
        page = await window.new_page()
        began = now_ms()
        sandbox = await self._machines.ensure(screen.workspace_id, screen.project_id)
        ticket = await open_preview(self._services, self._owner, sandbox.sandbox_id, DEV_PORT, "")
        host = f"{DEV_PORT}-{sandbox.sandbox_id.replace('_', '-')}.preview.localhost:{self._port}"
        await page.goto(f"http://{host}/.outlast/ticket?ticket={ticket.secret}&to=%2F", timeout=PATIENCE_MS)
        await page.get_by_role("heading", name=FIRST_WORDS).wait_for(timeout=PATIENCE_MS)
        await page.wait_for_function(LIVE, timeout=PATIENCE_MS)
        taken = now_ms() - began
        await window.close()
        return taken


@asynccontextmanager
async def _served() -> AsyncIterator[tuple[Program, SandboxManager, Actor, int]]:
    """A server with everything that screens need, on a port."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        settings = Settings()
        settings = replace(settings, server=replace(settings.server, data_dir=folder))
        async with open_program(settings) as program, anyio.create_task_group() as tasks:
            machines, services = program.services.sandboxes.manager, program.services
            assert machines is not None
            assert program.services.sandboxes.snapshots is not None
            assert services.sandboxes.keeper is not None
            owner = await accounts.ensure_local_owner(services)
            streams = OpenStreams(StreamSettings(heartbeat_s=60, slow_reader_s=60, recheck_s=60))
            readiness = Readiness(services.db, None)
            surface = Surface(services=services, streams=streams, readiness=readiness, local_owner=owner)
            listener = bind("127.0.0.1", 0)
            layer = PreviewLayer(nothing, surface, known_hosts("127.0.0.1", "", ()))
            server = HttpServer(layer, [listener], 1, layer.close, layer.run)
            tasks.start_soon(services.db.background)
            await tasks.start(services.sandboxes.keeper.run)
            tasks.start_soon(program.services.sandboxes.snapshots.run)
            tasks.start_soon(server.run_until_stopped)
            await server.ready.wait()
            try:
                yield program, machines, owner, listener.getsockname()[1]
            finally:
                for sandbox in [*machines.lives.handles]:
                    await machines.kill(sandbox)
                server.stop()
                await server.stopped.wait()
                tasks.cancel_scope.cancel()

"""Opening screens: their sandboxes wake in the background, files and theme are then read and written there."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.apps.screens.open_actions import wake, work_on
from outlast.apps.screens.screen_queue import ScreenQueue
from outlast.base.clock import SystemClock
from outlast.base.errors import SandboxUnavailable
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.connect import open_database
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.runs.notifications import announce_thread
from outlast.kernel.runs.tables import runs
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.seeds import Seeds
from outlast.kernel.settings import Settings
from outlast.kernel.threads.store import set_run_state
from outlast.surfaces.http.application import create_http
from outlast.testing.agents import FakeAgent
from outlast_sandbox.interface import Capabilities, SandboxSpec
from outlast_sandbox.providers.memory import MemoryProvider, MemorySandbox
from tests.asgi import Browser
from tests.factories import Team, make_run, make_services
from tests.flow.canvas.conftest import Watcher, make_screen
from tests.flow.http.conftest import Site, surface_over
from tests.templates import PAGE, small_templates


class Workshop(MemoryProvider):
    """Makes a sandbox once `go` is set; refuses while `broken`."""

    def __init__(self) -> None:
        super().__init__(capabilities=Capabilities(pause=True, preview=True))
        self.go, self.asked, self.broken = anyio.Event(), 0, False
        self.go.set()

    async def create(self, spec: SandboxSpec) -> MemorySandbox:
        self.asked += 1
        await self.go.wait()
        if self.broken:
            raise SandboxUnavailable("There is no room.", hint="Make some.")
        return await super().create(spec)


class House(Site):
    provider: Workshop
    machines: SandboxManager


@asynccontextmanager
async def house(migrated: Path, folder: Path) -> AsyncIterator[House]:
    """A site whose screens can be opened."""
    shutil.copy(migrated, folder / "outlast.db")
    clock, settings, blobs = SystemClock(), Settings(), FolderBlobs(folder / "blobs")
    database = open_database("sqlite:///outlast.db", folder, clock)
    assert settings.sandbox is not None
    async with Workshop() as provider, anyio.create_task_group() as tasks:
        machines = SandboxManager(database, provider, clock, settings.sandbox, folder)
        keeper = CheckpointKeeper(
            database, blobs, clock, settings.sandbox, folder, node_id="local", local=False, find=machines.find
        )
        machines.lives.files = keeper
        screen = FakeAgent(name="screen")
        services = make_services(
            database,
            folder,
            settings,
            blobs=blobs,
            clock=clock,
            checkpoints=keeper,
            manager=machines,
            seeds=Seeds(blobs, small_templates()),
            agents=[FakeAgent(), screen],
        )
        tasks.start_soon(work_on, services.state(ScreenQueue))
        surface = surface_over(services, None)
        browser = Browser(create_http(surface, known_hosts("127.0.0.1", "", ())))
        made = House(services, surface, browser, browser)
        made.provider, made.machines = provider, machines
        yield made
        tasks.cancel_scope.cancel()
    await database.aclose()


@pytest.fixture
async def site(migrated_sqlite: Path, tmp_path: Path) -> AsyncIterator[House]:
    async with house(migrated_sqlite, tmp_path) as made:
        yield made


async def test_opening_answers_at_once_and_everybody_hears_of_the_sandbox(site: House, team: Team):
    viewer = await site.signed_in(team.viewer)
    screen = await make_screen(await site.signed_in(team.editor), team.project_id)
    site.provider.go = anyio.Event()
    async with Watcher(site, team.owner, team.project_id) as owner:
        answers = [await viewer.post(f"/v1/screens/{screen['id']}/open") for _ in range(3)]
        assert [answer.status for answer in answers] == [202, 202, 202]
        assert answers[0].json()["sandbox_id"] is None
        seen = (await owner.next("screen.updated"))["screen"]
        assert seen["sandbox_id"] is not None
        site.provider.go.set()
        while (await owner.next("sandbox.state"))["state"] != "ready":
            pass
    assert site.provider.asked == 1
    shown = (await viewer.get(f"/v1/screens/{screen['id']}")).json()
    assert shown["sandbox_id"] == seen["sandbox_id"]
    assert shown["preview_url"].startswith("http://3000-")
    assert shown["trouble"] is None


async def test_a_sandbox_that_cannot_be_had_is_the_screens_trouble_until_it_can(site: House, team: Team):
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id)
    site.provider.broken = True
    async with Watcher(site, team.viewer, team.project_id) as viewer:
        await editor.post(f"/v1/screens/{screen['id']}/open")
        troubled = await until(viewer, lambda seen: seen["trouble"] is not None)
        assert troubled["trouble"] == "There is no room. Make some."
        site.provider.broken = False
        await editor.post(f"/v1/screens/{screen['id']}/open")
        await until(viewer, lambda seen: seen["trouble"] is None)


async def test_a_preview_is_let_in_before_its_app_runs(site: House, team: Team):
    viewer = await site.signed_in(team.viewer)
    screen = await make_screen(await site.signed_in(team.editor), team.project_id)
    site.provider.go = anyio.Event()
    answer = await viewer.post(f"/v1/screens/{screen['id']}/preview", {"path": "/about?x=1"})
    shown = (await viewer.get(f"/v1/screens/{screen['id']}")).json()
    preview = answer.json()
    assert preview["url"] == f"{shown['preview_url']}about?x=1"
    assert preview["ticket_url"].startswith(shown["preview_url"])
    site.provider.go.set()


async def test_a_sandbox_that_ends_before_it_runs_can_be_had_by_the_next_visit(site: House, team: Team):
    viewer = await site.signed_in(team.viewer)
    screen = await make_screen(await site.signed_in(team.editor), team.project_id)
    site.provider.broken = True
    async with Watcher(site, team.owner, team.project_id) as owner:
        await viewer.post(f"/v1/screens/{screen['id']}/open")
        first = await until(owner, lambda seen: seen["trouble"] is not None)
        site.provider.broken = False
        assert (await viewer.post(f"/v1/screens/{screen['id']}/preview")).status == 200
        again = await until(owner, lambda seen: seen["sandbox_id"] != first["sandbox_id"])
    assert again["trouble"] is None


async def test_files_of_a_screen_that_is_awake_are_the_running_ones(site: House, team: Team):
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id)
    sandbox = await site.machines.ensure(screen["workspace_id"], team.project_id)
    await sandbox.write_files([("app/page.tsx", b"live"), ("node_modules/a.js", b"x")])
    listed = (await editor.get(f"/v1/screens/{screen['id']}/files")).json()
    assert listed["live"] is True
    assert {"path": "app/page.tsx", "size": 4} in listed["items"]
    assert not any("node_modules" in one["path"] for one in listed["items"])
    page = f"/v1/screens/{screen['id']}/files/content?path=app/page.tsx"
    assert (await editor.get(page)).body == b"live"
    found = (await editor.get(f"/v1/screens/{screen['id']}/search?q=live")).json()["items"]
    assert [hit["path"] for hit in found] == ["app/page.tsx"]
    copy = (await editor.post(f"/v1/screens/{screen['id']}/duplicate")).json()
    assert (await editor.get(f"/v1/screens/{copy['id']}/files/content?path=app/page.tsx")).body == b"live"


async def test_files_of_a_sandbox_that_was_lost_are_those_last_kept(site: House, team: Team):
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id)
    sandbox = await site.machines.ensure(screen["workspace_id"], team.project_id)
    await sandbox.write_files([("app/page.tsx", b"live")])
    site.provider.lose(sandbox.sandbox_id)
    listed = (await editor.get(f"/v1/screens/{screen['id']}/files")).json()
    assert listed["live"] is False
    page = f"/v1/screens/{screen['id']}/files/content?path=app/page.tsx"
    assert (await editor.get(page)).body == PAGE


async def test_a_theme_reaches_the_running_app_and_is_kept(site: House, team: Team):
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id)
    sandbox = await site.machines.ensure(screen["workspace_id"], team.project_id)
    assert (await editor.call("PATCH", f"/v1/screens/{screen['id']}", {"theme": "rose"})).status == 200
    styles = await sandbox.read_file("app/globals.css", 100_000)
    assert b"oklch(0.54 0.2 6)" in styles
    newest = (await editor.get(f"/v1/screens/{screen['id']}/checkpoints")).json()["items"][0]
    path = f"/v1/checkpoints/{newest['id']}/files/content?path=app/globals.css"
    assert (await editor.get(path)).body == styles


async def test_a_theme_that_is_not_in_the_files_yet_is_written_when_the_screen_is_opened(site: House, team: Team):
    """A theme chosen while a run worked, which then was cancelled: nothing wrote it at the run's end."""
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id)
    sandbox = await site.machines.ensure(screen["workspace_id"], team.project_id)
    styles = await sandbox.read_file("app/globals.css", 100_000)
    await editor.call("PATCH", f"/v1/screens/{screen['id']}", {"theme": "rose"})
    await sandbox.write_files([("app/globals.css", styles)])
    await wake(site.services, screen["id"])
    assert b"oklch(0.54 0.2 6)" in await sandbox.read_file("app/globals.css", 100_000)


async def test_a_theme_chosen_while_a_run_works_is_written_when_it_has_ended(site: House, team: Team):
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id)
    sandbox = await site.machines.ensure(screen["workspace_id"], team.project_id)
    run_id = await site.services.db.write(begin_run, screen["thread_id"], team.editor)
    for theme in ("ocean", "rose"):
        await editor.call("PATCH", f"/v1/screens/{screen['id']}", {"theme": theme})
    assert b"oklch(0.54 0.2 6)" not in await sandbox.read_file("app/globals.css", 100_000)
    with site.services.hub.listen(screen["thread_id"]) as channel, anyio.fail_after(30):
        await site.services.db.write(end_run, screen["thread_id"], run_id)
        while True:
            version = channel.version
            if b"oklch(0.54 0.2 6)" in await sandbox.read_file("app/globals.css", 100_000):
                break
            await channel.wait(version)


async def test_nothing_waits_in_memory_for_a_run_that_waits_for_a_person(site: House, team: Team):
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id)
    run_id = await site.services.db.write(begin_run, screen["thread_id"], team.editor)
    with site.services.hub.listen(team.project_id) as channel:
        alone = channel.followers
        await editor.call("PATCH", f"/v1/screens/{screen['id']}", {"theme": "rose"})
        with anyio.fail_after(30):
            while channel.followers == alone:
                await anyio.lowlevel.checkpoint()
            await site.services.db.write(park_run, screen["thread_id"], run_id)
            while channel.followers != alone:
                await anyio.lowlevel.checkpoint()
    await site.services.db.write(end_run, screen["thread_id"], run_id)
    sandbox = await site.machines.ensure(screen["workspace_id"], team.project_id)
    await wake(site.services, screen["id"])
    assert b"oklch(0.54 0.2 6)" in await sandbox.read_file("app/globals.css", 100_000)


async def test_deleting_a_screen_ends_its_sandbox(site: House, team: Team):
    owner = await site.signed_in(team.owner)
    screen = await make_screen(owner, team.project_id)
    await site.machines.ensure(screen["workspace_id"], team.project_id)
    assert len(await site.provider.list_refs()) == 1
    assert (await owner.call("DELETE", f"/v1/screens/{screen['id']}")).status == 204
    assert await site.provider.list_refs() == []


async def test_a_screen_can_be_deleted_while_its_sandbox_starts_which_is_then_ended(site: House, team: Team):
    owner = await site.signed_in(team.owner)
    screen = await make_screen(owner, team.project_id)
    site.provider.go = anyio.Event()
    async with Watcher(site, team.owner, team.project_id) as watcher:
        await owner.post(f"/v1/screens/{screen['id']}/open")
        await until(watcher, lambda seen: seen["sandbox_id"] is not None)
        with anyio.fail_after(60):
            assert (await owner.call("DELETE", f"/v1/screens/{screen['id']}")).status == 204
        site.provider.go.set()
        async with site.machines.locks[screen["workspace_id"]]:  # once the start is over
            assert await site.provider.list_refs() == []
    assert (await owner.get(f"/v1/screens/{screen['id']}")).status == 404


async def test_edits_of_one_file_and_a_theme_at_the_same_time_are_all_there_afterwards(site: House, team: Team):
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id)
    sandbox = await site.machines.ensure(screen["workspace_id"], team.project_id)
    lines = "".join(f'    <p className="p-{number}">{number}</p>\n' for number in range(4))
    page = f"export default function Page() {{\n  return (\n    <main>\n{lines}    </main>\n  );\n}}\n"
    await sandbox.write_files([("app/page.tsx", page.encode())])
    address = f"/v1/screens/{screen['id']}"

    async def save(number: int) -> None:
        loc = f"app/page.tsx:{number + 4}:4"
        edit = {"loc": loc, "kind": "classes", "seen": f"p-{number}", "value": f"m-{number}"}
        saved = await editor.post(f"{address}/edits", {"edits": [edit]})
        assert [one["status"] for one in saved.json()["results"]] == ["applied"]

    async with anyio.create_task_group() as tasks:
        for number in range(4):
            tasks.start_soon(save, number)
        tasks.start_soon(editor.call, "PATCH", address, {"theme": "rose"})
    written = (await sandbox.read_file("app/page.tsx", 100_000)).decode()
    assert written == page.replace("p-", "m-")
    assert b"oklch(0.54 0.2 6)" in await sandbox.read_file("app/globals.css", 100_000)


def begin_run(tx: Tx, /, thread_id: str, actor: Actor) -> str:
    run_id = make_run(tx, thread_id, actor)
    set_run_state(tx, thread_id, "generating", run_id)
    announce_thread(tx, thread_id)
    return run_id


def park_run(tx: Tx, /, thread_id: str, run_id: str) -> None:
    set_run_state(tx, thread_id, "awaiting_approval", run_id)
    announce_thread(tx, thread_id)


def end_run(tx: Tx, /, thread_id: str, run_id: str) -> None:
    tx.execute(sa.update(runs).where(runs.c.id == run_id).values(leg="ended", status="cancelled"))
    set_run_state(tx, thread_id, "idle", None)
    announce_thread(tx, thread_id)


async def until(watcher: Watcher, met: Any) -> dict[str, Any]:
    """The screen, once news of it meet a condition."""
    while True:
        seen: dict[str, Any] = (await watcher.next("screen.updated"))["screen"]
        if met(seen):
            return seen

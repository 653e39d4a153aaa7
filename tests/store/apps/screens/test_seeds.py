"""Workspaces that begin with a template's files, on both databases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.base.errors import MalformedInput, NotFound
from outlast.base.ids import new_id
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.database import Database, Tx
from outlast.kernel.sandboxes.checkpoints import store
from outlast.kernel.sandboxes.checkpoints import workspaces as places
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.seeds import Seeds, copy_workspace, fork_workspace, new_workspace
from outlast.kernel.sandboxes.services.store import services_of
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.tables import checkpoints
from outlast.kernel.sandboxes.templates import DEV_SERVER
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.threads.forks import fork_thread
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.tables import threads
from tests.factories import Team, make_run, make_thread, say
from tests.templates import small_template


class Canvas:
    """A project with room for screens."""

    def __init__(self, db: Database, folder: Path) -> None:
        self.db, self.folder = db, folder
        self.blobs = FolderBlobs(folder / "blobs")
        self.seeds = Seeds(self.blobs, {"small": small_template()})

    async def furnish(self) -> None:
        def fill(tx: Tx) -> Team:
            return Team(tx)

        self.team = await self.db.write(fill)

    async def screen(self) -> tuple[str, str]:
        """(thread id, workspace id) of a new one."""
        seed = await self.seeds.of("small")

        def make(tx: Tx) -> tuple[str, str]:
            thread_id = make_thread(tx, self.team.project_id, self.team.owner)
            ids = {"project_id": self.team.project_id, "thread_id": thread_id}
            return thread_id, new_workspace(tx, seed, ("screen", new_id("screen")), **ids)

        return await self.db.write(make)

    def keeper(self) -> CheckpointKeeper:
        async def nobody(_workspace_id: str) -> None:
            return None

        settings = SandboxSettings(disk_mb=64)
        given: Any = {"node_id": "nod_here", "local": True, "find": nobody}
        return CheckpointKeeper(self.db, self.blobs, SystemClock(), settings, self.folder, **given)


@pytest.fixture
async def canvas(db: Database, tmp_path: Path) -> Canvas:
    made = Canvas(db, tmp_path)
    await made.furnish()
    return made


async def test_a_new_screen_begins_with_the_templates_files(canvas: Canvas) -> None:
    thread_id, workspace_id = await canvas.screen()
    first = await canvas.db.read(store.newest_of, workspace_id)
    assert first is not None
    assert first.reason == "template"
    tree = await canvas.keeper().tree(first)
    assert [entry.path for entry in tree.entries] == ["app", "app/page.tsx", "index.html"]
    thread = await canvas.db.read(lambda tx: tx.find(ThreadRow, threads, {"id": thread_id}))
    assert thread is not None
    assert thread.workspace_id == workspace_id
    told = [orjson.loads(line) for _, line in await canvas.db.read(read_all, thread_id)]
    assert "checkpoint.created" in [event["event"] for event in told]


async def test_a_thousand_screens_share_one_manifest(canvas: Canvas) -> None:
    await canvas.screen()
    stored = sorted(blob.name for blob in canvas.blobs.stored())
    _, other = await canvas.screen()
    assert sorted(blob.name for blob in canvas.blobs.stored()) == stored
    first = await canvas.db.read(store.newest_of, other)
    assert first is not None
    assert first.tree in stored


async def test_its_folder_is_filled_when_a_sandbox_needs_it(canvas: Canvas) -> None:
    _, workspace_id = await canvas.screen()
    folder = canvas.folder / "workspaces" / workspace_id
    assert not folder.exists()
    keeper = canvas.keeper()
    await keeper.bring_back(workspace_id)
    assert (folder / "index.html").read_bytes() == b"<p>begun</p>"
    assert await keeper.take(workspace_id, "tool") is None


async def test_its_dev_server_is_declared(canvas: Canvas) -> None:
    _, workspace_id = await canvas.screen()
    services = await canvas.db.read(services_of, workspace_id)
    assert [(one.name, one.port, one.health_path) for one in services] == [(DEV_SERVER, 3000, "/")]
    assert services[0].command.endswith("http.server 3000")


async def test_a_copy_has_the_files_as_they_are_now(canvas: Canvas) -> None:
    _, source = await canvas.screen()
    keeper = canvas.keeper()
    await keeper.bring_back(source)
    page = canvas.folder / "workspaces" / source / "app/page.tsx"
    page.write_text("changed")
    assert await keeper.take(source, "person") is not None

    def copy(tx: Tx) -> str:
        thread_id = make_thread(tx, canvas.team.project_id, canvas.team.owner)
        return copy_workspace(tx, source, owner_id=new_id("screen"), thread_id=thread_id)

    copied = await canvas.db.write(copy)
    await keeper.bring_back(copied)
    assert (canvas.folder / "workspaces" / copied / "app/page.tsx").read_text() == "changed"
    place = await canvas.db.read(places.place_of, copied)
    assert place is not None
    assert place.owner_type == "screen"
    assert [one.name for one in await canvas.db.read(services_of, copied)] == [DEV_SERVER]


async def test_a_copy_may_begin_at_an_earlier_checkpoint(canvas: Canvas) -> None:
    _, source = await canvas.screen()
    first = await canvas.db.read(store.newest_of, source)
    assert first is not None
    keeper = canvas.keeper()
    await keeper.bring_back(source)
    (canvas.folder / "workspaces" / source / "index.html").write_text("later")
    await keeper.take(source, "person")

    def copy(tx: Tx, checkpoint_id: str) -> str:
        thread_id = make_thread(tx, canvas.team.project_id, canvas.team.owner)
        ids = {"owner_id": new_id("screen"), "thread_id": thread_id}
        return copy_workspace(tx, source, **ids, checkpoint_id=checkpoint_id)

    copied = await canvas.db.write(copy, first.id)
    newest = await canvas.db.read(store.newest_of, copied)
    assert newest is not None
    assert newest.tree == first.tree
    with pytest.raises(NotFound):
        await canvas.db.write(copy, newest.id)


async def test_a_fork_has_the_files_as_they_were_at_its_message(canvas: Canvas) -> None:
    thread_id, source = await canvas.screen()
    keeper = canvas.keeper()
    await keeper.bring_back(source)
    page = canvas.folder / "workspaces" / source / "index.html"

    async def answer(text: str) -> str:
        """An answer of the agent, and the files that it left."""
        message_id = await canvas.db.write(lambda tx: say(tx, thread_id, None, text))
        page.write_text(text)
        kept = await keeper.take(source, "tool")
        assert kept is not None
        bound = sa.update(checkpoints).where(checkpoints.c.id == kept.id).values(message_id=message_id)
        await canvas.db.write(lambda tx: tx.execute(bound))
        return message_id

    question = await canvas.db.write(lambda tx: say(tx, thread_id, canvas.team.owner, "begin"))
    first = await answer("first")
    await answer("second")

    async def forked(message_id: str) -> str:
        made: list[str] = []

        def fork(tx: Tx) -> None:
            parent = tx.find(ThreadRow, threads, {"id": thread_id})
            assert parent is not None
            fork_id = fork_thread(tx, parent, canvas.team.owner, message_id, "Fork")
            made.append(fork_workspace(tx, parent, fork_id, message_id, owner_id=new_id("screen")))

        await canvas.db.write(fork)
        await keeper.bring_back(made[-1])
        return (canvas.folder / "workspaces" / made[-1] / "index.html").read_text()

    assert await forked(first) == "first"
    assert await forked(question) == "<p>begun</p>", "before the first answer it is as it began"


async def test_a_run_of_the_screens_thread_keeps_its_files_from_being_restored(canvas: Canvas) -> None:
    thread_id, workspace_id = await canvas.screen()
    place = await canvas.db.read(places.place_of, workspace_id)
    assert place is not None
    assert await canvas.db.read(places.active_run, place) is None
    run_id = await canvas.db.write(lambda tx: make_run(tx, thread_id, canvas.team.owner))
    assert await canvas.db.read(places.active_run, place) == run_id


async def test_an_unknown_template_is_refused_by_name(canvas: Canvas) -> None:
    with pytest.raises(MalformedInput, match="svelte") as refused:
        await canvas.seeds.of("svelte")
    assert "small" in refused.value.hint

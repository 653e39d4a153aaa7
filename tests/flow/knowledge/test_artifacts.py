"""Files of projects: stored, read in the background on both databases, found by search, removed with their text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from outlast.apps.knowledge.tables import knowledge_sources
from outlast.base.errors import Conflict, DiskFull, Forbidden, InputTooLarge, NotFound, TooManyArtifacts
from outlast.db.database import Database, Tx
from outlast.kernel.files import actions, store
from outlast.kernel.files.keeper import ArtifactKeeper
from outlast.kernel.files.settings import FileSettings
from outlast.kernel.files.tables import artifacts
from outlast.kernel.services import Services
from outlast.kernel.settings import Settings
from outlast.kernel.streams.log_store import read_all
from tests.app_settings import settings_with
from tests.factories import Team, make_services
from tests.faults import Faults
from tests.pdfs import pdf

NOTES = "# Plan\n\n## Rollout\n\nThe rollout begins in Lisbon in March.\n"


class Scene:
    def __init__(self, services: Services, team: Team) -> None:
        self.services, self.team = services, team
        self.keeper = ArtifactKeeper(services.db, services.clock, services.blobs, services.settings)

    async def upload(self, name: str, content: bytes, **more: Any) -> Any:
        actor = more.get("actor", self.team.editor)
        return await actions.upload_artifact(self.services, actor, self.team.project_id, name, content)

    async def read(self, name: str, content: bytes) -> Any:
        made = await self.upload(name, content)
        await self.keeper.read_due()
        return await actions.read_artifact(self.services, self.team.viewer, made.id)

    async def search(self, query: str) -> Any:
        return await actions.search_artifacts(self.services, self.team.viewer, self.team.project_id, query)

    async def told(self) -> list[str]:
        lines = await self.services.db.read(read_all, self.team.project_id)
        return [orjson.loads(line[1])["event"] for line in lines]


@pytest.fixture
async def scene(db: Database, tmp_path: Path) -> Scene:
    return Scene(make_services(db, tmp_path, Settings()), await db.write(Team))


async def test_a_text_is_read_in_the_background_and_found_by_search(scene: Scene) -> None:
    made = await scene.upload("plan.md", NOTES.encode())
    assert (made.state, made.media_type) == ("reading", "text/markdown")
    await scene.keeper.read_due()
    read = await actions.read_artifact(scene.services, scene.team.viewer, made.id)
    assert (read.state, read.trouble, read.characters) == ("ready", None, len(NOTES.strip()))
    answer = await scene.search("where does the rollout begin")
    assert (answer.items[0].artifact.id, answer.items[0].heading, answer.items[0].page) == (
        made.id,
        "Plan › Rollout",
        None,
    )
    assert [name for name in await scene.told() if name.startswith("artifact")] == [
        "artifact.created",
        "artifact.updated",
    ]


async def test_a_pdf_is_found_by_its_page(scene: Scene) -> None:
    made = await scene.read("report.pdf", pdf("Weather in Lisbon", "Prices of tiles", ""))
    assert (made.state, made.pages) == ("ready", 3)
    (hit, *_) = (await scene.search("tiles")).items
    assert (hit.page, hit.text.strip()) == (2, "Prices of tiles")
    page = await actions.read_artifact_text(scene.services, scene.team.viewer, made.id, 2)
    assert (page.text.strip(), page.page, page.pages) == ("Prices of tiles", 2, 3)
    with pytest.raises(NotFound):
        await actions.read_artifact_text(scene.services, scene.team.viewer, made.id, 4)


async def test_a_file_without_text_says_why(scene: Scene) -> None:
    made = await scene.read("scan.pdf", pdf(""))
    assert made.state == "no_text"
    assert "scanned" in made.trouble
    with pytest.raises(Conflict) as refused:
        await actions.read_artifact_text(scene.services, scene.team.viewer, made.id)
    assert "scanned" in refused.value.hint


async def test_the_same_file_twice_is_one_file(scene: Scene) -> None:
    first, again = await scene.upload("a.txt", b"one"), await scene.upload("a.txt", b"one")
    other = await scene.upload("a.txt", b"two")
    assert first.id == again.id != other.id


async def test_another_project_finds_nothing_of_it(scene: Scene) -> None:
    await scene.read("plan.md", NOTES.encode())
    other = await scene.services.db.write(Team)
    found = await actions.search_artifacts(scene.services, other.owner, other.project_id, "rollout")
    assert (list(found.items), found.note) == ([], "The project has no files.")


async def test_a_deleted_file_is_not_found_any_more(scene: Scene) -> None:
    made = await scene.read("plan.md", NOTES.encode())
    with pytest.raises(Forbidden):
        await actions.delete_artifact(scene.services, scene.team.viewer, made.id)
    await actions.delete_artifact(scene.services, scene.team.editor, made.id)
    assert not (await scene.search("rollout")).items

    def sources(tx: Tx) -> int:
        mine = knowledge_sources.c.project_id == scene.team.project_id
        return int(tx.execute(sa.select(sa.func.count()).select_from(knowledge_sources).where(mine)).scalar_one())

    assert await scene.services.db.read(sources) == 0
    assert "artifact.deleted" in await scene.told()


async def test_a_file_that_goes_while_it_is_read_leaves_no_text_behind(scene: Scene) -> None:
    made = await scene.upload("plan.md", NOTES.encode())
    row = await scene.services.db.write(store.claim, [])
    assert row is not None
    await actions.delete_artifact(scene.services, scene.team.editor, made.id)
    await scene.keeper._read(row)
    assert not (await scene.search("rollout")).items


async def test_what_a_dead_server_was_reading_is_read_by_the_next(scene: Scene) -> None:
    made = await scene.upload("plan.md", NOTES.encode())
    assert await scene.services.db.write(store.claim, []) is not None
    assert await scene.keeper.read_due() == 0  # somebody else's, as far as anybody knows
    await scene.services.db.write(store.take_over)
    assert await scene.keeper.read_due() == 1
    assert (await actions.read_artifact(scene.services, scene.team.editor, made.id)).state == "ready"


async def test_a_blob_that_is_missing_fails_one_file_and_not_the_others(scene: Scene) -> None:
    lost = await scene.upload("lost.txt", b"lost")
    kept = await scene.upload("kept.txt", b"kept")
    await scene.services.db.write(lambda tx: tx.update(artifacts, {"id": lost.id}, blob="0" * 64))
    await scene.keeper.read_due()
    states = [(await actions.read_artifact(scene.services, scene.team.editor, one.id)).state for one in (lost, kept)]
    assert states == ["failed", "ready"]


async def test_files_are_bounded_in_size_and_number(scene: Scene) -> None:
    small = FileSettings(artifact_bytes=1000, artifacts_per_project=1)
    scene.services = replace(scene.services, settings=settings_with(Settings(), small))
    with pytest.raises(InputTooLarge):
        await scene.upload("a.txt", b"a" * 1001)
    await scene.upload("a.txt", b"a")
    with pytest.raises(TooManyArtifacts):
        await scene.upload("b.txt", b"b")


async def test_an_editor_deletes_own_files_only_and_an_owner_any(scene: Scene) -> None:
    theirs = await scene.upload("a.txt", b"a", actor=scene.team.owner)
    with pytest.raises(Forbidden):
        await actions.delete_artifact(scene.services, scene.team.editor, theirs.id)
    mine = await scene.upload("b.txt", b"b")
    await actions.delete_artifact(scene.services, scene.team.owner, mine.id)


async def test_who_comes_too_late_with_a_text_changes_nothing(scene: Scene) -> None:
    made = await scene.upload("plan.md", NOTES.encode())
    row = await scene.services.db.write(store.claim, [])
    assert row is not None
    await scene.services.db.write(store.take_over)
    await scene.keeper.read_due()
    before = await scene.told()
    await scene.keeper._read(row)
    assert await scene.told() == before
    assert (await actions.read_artifact(scene.services, scene.team.editor, made.id)).state == "ready"


async def test_a_file_that_could_not_be_stored_is_read_again_later_and_keeps_nobody_busy(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await scene.upload("plan.md", NOTES.encode())

    def full(*_more: object) -> None:
        raise DiskFull("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(scene.keeper, "_store", full)
        with pytest.raises(DiskFull):
            await scene.keeper.read_due()
    assert await scene.keeper.read_due() == 0  # not before its lease lapses
    due = await scene.services.db.read(store.next_due, [])
    assert due is not None
    assert due > scene.services.clock.now()
    await scene.services.db.write(store.take_over)
    assert await scene.keeper.read_due() == 1
    assert (await actions.read_artifact(scene.services, scene.team.editor, made.id)).state == "ready"


async def test_a_disk_that_is_full_while_a_file_is_read_is_not_held_against_the_file(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was said to have failed for good."""
    made = await scene.upload("plan.md", NOTES.encode())
    faults = Faults()
    with monkeypatch.context() as patched:
        patched.setattr(scene.keeper, "_blobs", faults.wrap("blobs", scene.services.blobs))
        faults.arm("blobs", 2, lambda: DiskFull("The disk is full."))
        with pytest.raises(DiskFull):
            await scene.keeper.read_due()
        assert faults.fired == "blobs.put"
    assert (await actions.read_artifact(scene.services, scene.team.editor, made.id)).state == "reading"
    await scene.services.db.write(store.take_over)
    assert await scene.keeper.read_due() == 1
    assert (await actions.read_artifact(scene.services, scene.team.editor, made.id)).state == "ready"

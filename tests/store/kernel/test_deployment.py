"""Database, data directory and blob folder belong together, or the server does not start and nothing is collected."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from outlast.base.clock import SystemClock
from outlast.base.errors import DeploymentMismatch, StartRefused
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.db.sqlite import SqliteDatabase
from outlast.kernel.deployment import (
    FILE,
    Deployment,
    FolderMark,
    check,
    hold_collection,
    join,
    read_file,
    release_collection,
    standing_of,
    trust_database,
    write_file,
)
from outlast.kernel.sandboxes.checkpoints.garbage import Collected, collect
from tests.factories import make_user


@pytest.fixture
def place(tmp_path: Path) -> Deployment:
    return Deployment(tmp_path / "data", tmp_path / "blobs")


def store_old(place: Deployment, content: bytes = b"needed by nobody that this database knows") -> str:
    name = FolderBlobs(place.blob_dir).put(content)
    os.utime(place.blob_dir / name[:2] / name[2:], (0, 0))
    return name


async def collected(db: Database, place: Deployment) -> Collected:
    return await collect(db, FolderBlobs(place.blob_dir), timedelta(days=30), data_dir=place.data_dir)


async def use(db: Database) -> None:
    def add(tx: Tx) -> None:
        make_user(tx)

    await db.write(add)


async def test_a_new_database_and_new_folders_get_one_id(db: Database, place: Deployment) -> None:
    assert await join(db, place)
    standing = await db.read(standing_of)
    assert standing.id is not None
    assert [one.id for one in place.read() if one] == [standing.id] * 2
    assert not standing.is_adopting
    assert await join(db, place)


async def test_a_used_database_and_used_folders_of_a_version_without_ids_get_one(
    db: Database, place: Deployment
) -> None:
    await use(db)
    store_old(place)
    (place.data_dir / "workspaces" / "wsp_1").mkdir(parents=True)
    assert await join(db, place)
    assert [one.id for one in place.read() if one] == [(await db.read(standing_of)).id] * 2


async def test_an_empty_database_beside_used_blobs_is_refused(db: Database, place: Deployment) -> None:
    store_old(place)
    with pytest.raises(DeploymentMismatch, match="database is empty"):
        await join(db, place)
    assert read_file(place.blob_dir) is None


async def test_an_empty_database_beside_folders_with_an_id_is_refused(db: Database, place: Deployment) -> None:
    write_file(place.data_dir, FolderMark("dep_before"))
    with pytest.raises(DeploymentMismatch, match="database is empty"):
        await join(db, place)
    with pytest.raises(DeploymentMismatch, match="database is empty"):
        await check(db, place)


@pytest.mark.parametrize("which", ["data_dir", "blob_dir"])
async def test_a_folder_of_another_deployment_is_refused_and_named(db: Database, place: Deployment, which: str) -> None:
    await join(db, place)
    folder = getattr(place, which)
    write_file(folder, FolderMark("dep_other"))
    with pytest.raises(DeploymentMismatch, match="dep_other") as refused:
        await join(db, place)
    assert str(folder) in refused.value.message
    assert "blobs.url" in refused.value.hint


async def test_used_blobs_without_an_id_are_refused_until_they_are_adopted(db: Database, place: Deployment) -> None:
    await use(db)
    await join(db, place)
    (place.blob_dir / FILE).unlink()
    store_old(place)
    with pytest.raises(DeploymentMismatch, match="may not belong"):
        await join(db, place)
    assert await join(db, place, adopt=True)
    assert await join(db, place)


async def test_a_start_that_was_killed_between_the_ids_is_completed(db: Database, place: Deployment) -> None:
    await use(db)
    store_old(place)
    place.data_dir.mkdir()
    place.data_dir.chmod(0o755)
    (place.data_dir / FILE).mkdir()  # writing it fails, as a kill would
    with pytest.raises(StartRefused):
        await join(db, place)
    assert (await db.read(standing_of)).id is None
    (place.data_dir / FILE).rmdir()
    (place.blob_dir / FILE).mkdir()
    with pytest.raises(StartRefused):
        await join(db, place)
    (place.blob_dir / FILE).rmdir()
    assert await join(db, place)


async def test_a_further_node_with_new_folders_joins(db: Database, place: Deployment, tmp_path: Path) -> None:
    await join(db, place)
    await use(db)
    second = Deployment(tmp_path / "second", tmp_path / "second" / "blobs")
    assert await join(db, second)
    assert [one.id for one in second.read() if one] == [(await db.read(standing_of)).id] * 2


async def test_a_file_that_is_damaged_is_told_with_what_to_do(db: Database, place: Deployment) -> None:
    await join(db, place)
    (place.blob_dir / FILE).write_text("{")
    with pytest.raises(StartRefused) as refused:
        await join(db, place)
    assert "verify --adopt" in refused.value.hint


async def test_nothing_is_collected_beside_a_database_that_the_folders_do_not_belong_to(
    db: Database, place: Deployment
) -> None:
    """The hourly collection deleted every blob older than a day beside an empty or a wrong database."""
    old = store_old(place)
    told = await collected(db, place)
    assert told.blobs == 0
    assert "do not belong together" in told.held
    assert FolderBlobs(place.blob_dir).get(old)


async def test_a_database_restored_from_before_collects_nothing_until_it_is_trusted(
    place: Deployment, sqlite_url: str, tmp_path: Path
) -> None:
    file = Path(sqlite_url.removeprefix("sqlite:///"))
    file = file if file.is_absolute() else tmp_path / file
    now = open_database(f"sqlite:///{file}", tmp_path, SystemClock())
    assert isinstance(now, SqliteDatabase)
    await join(now, place)
    await now.aclose()
    shutil.copy(file, tmp_path / "yesterday.db")
    later = open_database(f"sqlite:///{file}", tmp_path, SystemClock())
    await join(later, place)
    await later.aclose()

    old = store_old(place)
    restored = open_database(f"sqlite:///{tmp_path}/yesterday.db", tmp_path, SystemClock())
    assert not await join(restored, place)
    assert "restored" in (await collected(restored, place)).held
    assert not await join(restored, place)  # it is remembered, though the marks are level some day
    standing = await restored.write(trust_database, 99)
    assert standing.id is not None
    place.write(standing.id, standing.mark)
    assert await join(restored, place)
    assert (await collected(restored, place)).blobs == 1
    assert not FolderBlobs(place.blob_dir).keep(old)
    await restored.aclose()


async def test_marks_grow_with_each_start_and_each_collection_and_agree(db: Database, place: Deployment) -> None:
    marks = []
    for act in (join, collected, join):
        await act(db, place)
        in_folder = read_file(place.blob_dir)
        assert in_folder is not None
        assert in_folder.mark == (await db.read(standing_of)).mark
        marks.append(in_folder.mark)
    assert marks == sorted(set(marks))


async def test_a_backup_holds_collection_off_for_a_time_and_no_longer(db: Database, place: Deployment) -> None:
    await join(db, place)
    old = store_old(place)
    await db.write(hold_collection, timedelta(hours=1))
    assert "backup" in (await collected(db, place)).held
    assert FolderBlobs(place.blob_dir).get(old)
    await db.write(hold_collection, timedelta(0))  # whoever held it is gone
    assert (await collected(db, place)).blobs == 1
    store_old(place)
    await db.write(hold_collection, timedelta(hours=1))
    await db.write(release_collection)
    assert (await collected(db, place)).blobs == 1

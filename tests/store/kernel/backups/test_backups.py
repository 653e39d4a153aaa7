"""A backup holds everything that is not derived, is whole or none, and comes back as it was."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.base.data_directory import node_of
from outlast.base.errors import BackupIncomplete, BackupRefused
from outlast.base.image_formats import Image
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.db.tables import meta
from outlast.kernel.attachments.store import add_attachment
from outlast.kernel.backups.backup import take_backup
from outlast.kernel.backups.places import BLOBS, DATABASE, FILES, MANIFEST, Place
from outlast.kernel.backups.restore import restore_backup
from outlast.kernel.backups.verification import verify_backup, verify_server
from outlast.kernel.deployment import FolderMark, join, read_file, standing_of, write_file
from outlast.kernel.secrets.keyring import load_keyring
from outlast_sandbox.folder_copies import MAX_PATH_BYTES
from outlast_sandbox.folders import remove_folder
from tests.factories import Team

WORKSPACE = {"a.txt": "one", "deep/b.txt": "two", "node_modules/x/index.js": "three"}


class Site:
    """A server's data directory with something of everything in it."""

    def __init__(self, folder: Path, migrated: Path) -> None:
        self.place = Place(folder / "data", folder / "data" / "blobs", "sqlite:///outlast.db")
        self.place.data_dir.mkdir()
        shutil.copy(migrated, self.place.data_dir / "outlast.db")
        self.db = self.open(self.place)
        self.blobs = FolderBlobs(self.place.blob_dir)

    @staticmethod
    def open(place: Place) -> Database:
        return open_database(place.database_url, place.data_dir, SystemClock())

    async def furnish(self) -> None:
        await join(self.db, self.place)
        self.attached = self.blobs.put(b"a picture")
        self.unnamed = self.blobs.put(b"named by nobody")

        def fill(tx: Tx) -> None:
            team = Team(tx)
            picture = Image("image/png", 1, 1)
            add_attachment(tx, team.project_id, team.owner.user_id, "a.png", picture, 9, self.attached)

        await self.db.write(fill)
        data = self.place.data_dir
        for path, content in WORKSPACE.items():
            file = data / "workspaces" / "wsp_1" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        workspace = data / "workspaces" / "wsp_1"
        (workspace / "out").symlink_to("/etc/passwd")
        (workspace / "run.sh").write_text("#!/bin/sh\n")
        (workspace / "run.sh").chmod(0o755)
        os.mkfifo(workspace / "pipe")
        (workspace / os.fsdecode(b"caf\xe9")).write_text("not UTF-8")
        for name in ("egress", "search", "checkpoints", "sandboxes", "sandboxes-docker"):
            (data / name).mkdir()
            (data / name / "thing").write_text(name)
        (data / "egress" / "placeholders.key").write_text("key")
        (data / "egress" / "placeholders.key").chmod(0o600)
        node_of(data)
        load_keyring(data, {})

    async def backup(self, folder: Path):
        return await take_backup(self.place, self.db, SystemClock(), folder)


@pytest.fixture
async def site(tmp_path: Path, migrated_sqlite: Path) -> AsyncIterator[Site]:
    made = Site(tmp_path, migrated_sqlite)
    await made.furnish()
    yield made
    await made.db.aclose()


def elsewhere(tmp_path: Path) -> Place:
    data_dir = tmp_path / "elsewhere" / "data"
    return Place(data_dir, data_dir / "blobs", "sqlite:///outlast.db")


async def test_everything_that_is_not_derived_comes_back_as_it_was(site: Site, tmp_path: Path) -> None:
    manifest = await site.backup(tmp_path / "backup")
    assert set(manifest.blobs) == {site.attached}
    assert manifest.skipped == ("workspaces/wsp_1/pipe",)
    assert not manifest.missing_blobs
    place = elsewhere(tmp_path)
    restore_backup(tmp_path / "backup", place)
    data = place.data_dir
    assert {path.name for path in data.iterdir()} == {
        "outlast.db",
        "blobs",
        "workspaces",
        "egress",
        "node",
        "deployment",
        "server.key",
    }
    workspace = data / "workspaces" / "wsp_1"
    for path, content in WORKSPACE.items():
        assert (workspace / path).read_text() == content
        before = (site.place.data_dir / "workspaces" / "wsp_1" / path).stat()
        assert (workspace / path).stat().st_mtime_ns == before.st_mtime_ns
    assert os.readlink(workspace / "out") == "/etc/passwd"
    assert (workspace / os.fsdecode(b"caf\xe9")).read_text() == "not UTF-8"
    assert (workspace / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (data / "egress" / "placeholders.key").stat().st_mode & 0o777 == 0o600
    assert node_of(data) == node_of(site.place.data_dir)
    assert load_keyring(data, {}).key_id == load_keyring(site.place.data_dir, {}).key_id
    restored = site.open(place)
    try:
        assert await join(restored, place)
        assert (await restored.read(standing_of)).id == (await site.db.read(standing_of)).id
        assert (await verify_server(place, restored)).problems == ()
        assert FolderBlobs(place.blob_dir).get(site.attached) == b"a picture"
    finally:
        await restored.aclose()


async def test_collection_is_free_again_after_a_backup_also_in_the_copy(site: Site, tmp_path: Path) -> None:
    await site.backup(tmp_path / "backup")
    assert (await site.db.read(standing_of)).held_until is None
    copy = open_database(f"sqlite:///{tmp_path}/backup/{DATABASE}", tmp_path, SystemClock())
    assert (await copy.read(standing_of)).held_until is None
    await copy.aclose()


async def test_a_folder_that_is_not_empty_is_refused_by_both(site: Site, tmp_path: Path) -> None:
    await site.backup(tmp_path / "backup")
    with pytest.raises(BackupRefused, match="not empty"):
        await site.backup(tmp_path / "backup")
    with pytest.raises(BackupRefused, match="not empty"):
        restore_backup(tmp_path / "backup", site.place)


async def test_a_backup_without_its_manifest_is_none(site: Site, tmp_path: Path) -> None:
    await site.backup(tmp_path / "backup")
    (tmp_path / "backup" / MANIFEST).unlink()
    place = elsewhere(tmp_path)
    for act in (lambda: verify_backup(tmp_path / "backup"), lambda: restore_backup(tmp_path / "backup", place)):
        with pytest.raises(BackupIncomplete, match="no manifest"):
            act()
    assert not place.data_dir.exists()


@pytest.mark.parametrize("what", ["blob", "file", "database", "manifest"])
async def test_a_damaged_backup_is_found_and_not_restored(site: Site, tmp_path: Path, what: str) -> None:
    await site.backup(tmp_path / "backup")
    paths = {
        "blob": f"{BLOBS}/{site.attached[:2]}/{site.attached[2:]}",
        "file": f"{FILES}/workspaces/wsp_1/a.txt",
        "database": DATABASE,
        "manifest": MANIFEST,
    }
    file = tmp_path / "backup" / paths[what]
    content = bytearray(file.read_bytes())
    content[len(content) // 2 :] = b""
    file.write_bytes(content)
    if what == "manifest":
        with pytest.raises(BackupIncomplete):
            verify_backup(tmp_path / "backup")
    else:
        assert verify_backup(tmp_path / "backup").problems
    place = elsewhere(tmp_path)
    with pytest.raises((BackupRefused, BackupIncomplete)):
        restore_backup(tmp_path / "backup", place)
    assert not place.data_dir.exists()
    assert not list(place.data_dir.parent.glob(".*")) or what == "manifest"


async def test_a_blob_that_is_missing_already_is_told_and_the_rest_is_kept(site: Site, tmp_path: Path) -> None:
    (site.place.blob_dir / site.attached[:2] / site.attached[2:]).write_bytes(b"damaged")
    manifest = await site.backup(tmp_path / "backup")
    assert manifest.missing_blobs == (site.attached,)
    assert verify_backup(tmp_path / "backup").problems == ()
    (found,) = (await verify_server(site.place, site.db)).problems
    assert site.attached in found


@pytest.fixture
def bottomless(tmp_path: Path) -> Iterator[Path]:
    """A folder for trees to whose bottom pytest would not get."""
    yield tmp_path
    for folder in tmp_path.iterdir():
        remove_folder(folder)


async def test_folders_nested_to_any_depth_do_not_keep_a_backup_from_being_restored(
    bottomless: Path, site: Site
) -> None:
    nest(site.place.data_dir / "workspaces" / "wsp_1", 3_000)
    manifest = await site.backup(bottomless / "backup")
    (left_out,) = (path for path in manifest.skipped if "/d/d/" in path)
    assert MAX_PATH_BYTES < len(left_out) <= MAX_PATH_BYTES + 2
    far = bottomless / ("a long name for a folder" * 7)
    remains = far / ".data.restoring"
    nest(remains, 3_000)  # of a restore that was killed
    place = Place(far / "data", far / "data" / "blobs", "sqlite:///outlast.db")
    restore_backup(bottomless / "backup", place)
    assert not remains.exists()
    assert (place.data_dir / "workspaces" / "wsp_1" / "a.txt").read_text() == "one"
    assert (place.data_dir / left_out).parent.is_dir()


def nest(folder: Path, depth: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    current = os.open(folder, os.O_PATH)
    for _ in range(depth):
        os.mkdir("d", dir_fd=current)
        current, above = os.open("d", os.O_PATH, dir_fd=current), current
        os.close(above)
    os.close(current)


async def test_a_link_in_a_workspace_leads_nothing_into_the_backup(site: Site, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("of the operator")
    (site.place.data_dir / "workspaces" / "wsp_1" / "way").symlink_to(secret)
    await site.backup(tmp_path / "backup")
    told = json.loads((tmp_path / "backup" / MANIFEST).read_text())["files"]["workspaces/wsp_1/way"]
    assert (told["kind"], told["target"]) == ("symlink", str(secret))
    assert not (tmp_path / "backup" / FILES / "workspaces" / "wsp_1" / "way").exists()


async def test_blobs_outside_of_the_data_directory_come_back_there(tmp_path: Path, migrated_sqlite: Path) -> None:
    site = Site(tmp_path, migrated_sqlite)
    site.place = Place(site.place.data_dir, tmp_path / "blobs", f"sqlite:///{tmp_path}/data/outlast.db")
    site.blobs = FolderBlobs(site.place.blob_dir)
    await site.furnish()
    await site.backup(tmp_path / "backup")
    await site.db.aclose()
    place = Place(tmp_path / "new", tmp_path / "new-blobs", f"sqlite:///{tmp_path}/new.db")
    restore_backup(tmp_path / "backup", place)
    restored = site.open(place)
    assert await join(restored, place)
    assert (await verify_server(place, restored)).problems == ()
    await restored.aclose()
    foreign = Place(tmp_path / "other", tmp_path / "foreign", f"sqlite:///{tmp_path}/other.db")
    write_file(foreign.blob_dir, FolderMark("dep_other"))
    with pytest.raises(BackupRefused, match="another deployment"):
        restore_backup(tmp_path / "backup", foreign)


async def test_verifying_lets_a_restored_database_be_collected_again(site: Site) -> None:
    known = read_file(site.place.blob_dir)
    assert known is not None
    write_file(site.place.blob_dir, FolderMark(known.id, 500))
    assert not await join(site.db, site.place)
    assert (await verify_server(site.place, site.db)).problems == ()
    assert await join(site.db, site.place)
    mark = read_file(site.place.blob_dir)
    assert mark is not None
    assert mark.mark > 500


async def test_verifying_beside_a_missing_blob_trusts_nothing(site: Site) -> None:
    known = read_file(site.place.blob_dir)
    assert known is not None
    write_file(site.place.blob_dir, FolderMark(known.id, 500))
    (site.place.blob_dir / site.attached[:2] / site.attached[2:]).unlink()
    assert (await verify_server(site.place, site.db)).problems
    assert not await join(site.db, site.place)


async def test_the_copy_is_of_one_moment_though_the_server_goes_on_writing(site: Site, tmp_path: Path) -> None:
    """Each write of another connection begins SQLite's own online copy anew: under load it would never end."""
    import anyio

    def write(tx: Tx, number: int) -> None:
        tx.execute(sa.insert(meta), [{"key": f"a{number}.{n}", "value": "x" * 2000} for n in range(20)])
        tx.execute(sa.insert(meta).values(key=f"b{number}", value=""))

    numbers = iter(range(10_000))

    async def write_on() -> None:
        for number in numbers:
            await site.db.write(write, number)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write_on)
        while next(numbers) < 20:
            await anyio.lowlevel.checkpoint()
        await site.backup(tmp_path / "backup")
        tasks.cancel_scope.cancel()
    copy = open_database(f"sqlite:///{tmp_path}/backup/{DATABASE}", tmp_path, SystemClock())

    def count(tx: Tx) -> tuple[int, int]:
        keys = list(tx.execute(sa.select(meta.c.key)).scalars())
        return sum(key.startswith("a") for key in keys), sum(key.startswith("b") for key in keys)

    many, one = await copy.read(count)
    await copy.aclose()
    assert one
    assert many == 20 * one

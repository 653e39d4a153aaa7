"""A backup that is taken under load comes back elsewhere without a difference; one that is killed is never taken for
whole, and neither is a restore."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest
import sqlalchemy as sa

from outlast.apps.documents.tables import documents
from outlast.base.clock import SystemClock
from outlast.base.errors import BackupIncomplete
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.connect import open_database
from outlast.db.database import Tx
from outlast.kernel.backups.manifest import read_manifest
from outlast.kernel.backups.places import DATABASE, Place
from outlast.kernel.backups.restore import restore_backup
from outlast.kernel.backups.verification import verify_backup
from outlast.kernel.sandboxes.checkpoints.contents import content_of
from outlast.kernel.sandboxes.tables import checkpoints, workspaces
from outlast_sandbox.checkpoints.tree import decode
from outlast_sandbox.folder_copies import differing
from tests.crash.conftest import MakeServer
from tests.crash.kills import SEED_VARIABLE, seed_of_this_run
from tests.crash.scenario import new_page
from tests.crash.server import CrashServer, until
from tests.forked import Forked, run_outlast

pytestmark = [pytest.mark.timeout(600)]
PATIENCE_S = 240.0
RUNS = 20
PAGE_LINES = 40
RATE_LIMITED = 429
WITH_FILES = 5  # of them, each in a sandbox of its own
ENDED = ("completed", "error", "cancelled")


def turns(number: int) -> list[dict[str, Any]]:
    words = " ".join(f"w{number}.{at}" for at in range(400))
    said = {"text": words, "delay_s": 0.01}
    if number >= WITH_FILES:
        return [said]
    file = {"path": "notes.txt", "content": f"run {number}\n" * 50}
    call = {"id": "c1", "name": "create_or_update_files", "arguments": {"files": [file]}}
    return [{"text": "First a file.", "calls": [call]}, said]


@pytest.mark.sandbox
async def test_a_backup_under_load_comes_back_elsewhere_without_a_difference(
    make_server: MakeServer, tmp_path: Path
) -> None:
    folder = tmp_path / "backup"
    async with make_server("before") as server:
        document = await new_document(server)
        threads = [await begin(server, number) for number in range(RUNS)]
        page = await begin_page(server)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write_on, server, document)
            await server.until_committed("RunWriter.flush.commit", 40)
            done = await anyio.run_process(outlast(server, "backup", str(folder)), check=False)
            assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
            tasks.cancel_scope.cancel()
        before = [await said_in(server, thread) for thread in threads]
        page_before = await page_in(server, page)
        copied = await version_in(folder, document)
        as_it_was = texts((await server.get(f"/v1/documents/{document}/versions/{copied}"))["content"])

    assert verify_backup(folder).problems == ()
    after = make_server("after")
    place = Place(after.data_dir, after.data_dir / "blobs", "sqlite:///outlast.db")
    manifest = restore_backup(folder, place)
    assert not manifest.missing_blobs
    assert list(differing(place.data_dir, manifest.files, links=True)) == []
    assert await kept_files(place) > 0
    async with after:
        shown = await after.get(f"/v1/documents/{document}")
        assert shown["version"] == copied > 1
        assert texts(shown["sections"]) == as_it_was
        for number, thread in enumerate(threads):
            assert await said_in(after, thread) == before[number], f"run {number}"
        assert await page_in(after, page) == page_before
    written = sorted(file.read_text() for file in place.data_dir.glob("workspaces/*/notes.txt"))
    assert written == [f"run {number}\n" * 50 for number in range(WITH_FILES)]


async def version_in(folder: Path, document: str) -> int:
    """The document's version in the copy of the database."""
    db = open_database(f"sqlite:///{DATABASE}", folder, SystemClock())

    def version(tx: Tx) -> int:
        return int(tx.execute(sa.select(documents.c.version).where(documents.c.id == document)).scalar_one())

    try:
        return await db.read(version)
    finally:
        await db.aclose()


async def kept_files(place: Place) -> int:
    """How many files of checkpoints can be read, beside a database that names no other."""
    db = open_database(place.database_url, place.data_dir, SystemClock())

    def newest(tx: Tx) -> list[str]:
        taken = sa.select(checkpoints.c.tree, workspaces.c.id).join(
            workspaces, workspaces.c.id == checkpoints.c.workspace_id
        )
        return [row.tree for row in tx.execute(taken)]

    blobs, count = FolderBlobs(place.blob_dir), 0
    for name in await db.read(newest):
        for entry in decode(blobs.get(name), lambda base: decode(blobs.get(base))).entries:
            if entry.kind == "file":
                assert len(content_of(blobs, entry)) == entry.size
                count += 1
    await db.aclose()
    return count


async def new_document(server: CrashServer) -> str:
    project = (await server.get("/v1/projects"))["items"][0]
    asked = {"title": "Plan", "markdown": "# One\n\nWords.\n"}
    status, made = await server.call("POST", f"/v1/projects/{project['id']}/documents", asked)
    assert status == 201, made
    return str(made["id"])


async def write_on(server: CrashServer, document: str) -> None:
    for number in count(1):
        text = f"# One\n\nWords {number}.\n\n" + f"Line of {number}.\n\n" * 20
        seen = (await server.get(f"/v1/documents/{document}"))["version"]
        asked = {"markdown": text, "replace": True, "seen": seen}
        status, said = await server.call("POST", f"/v1/documents/{document}/import", asked)
        if status == RATE_LIMITED:
            await anyio.sleep(said["retry_after_s"])
            continue
        assert status == 200, said


async def begin(server: CrashServer, number: int) -> str:
    content = f"Go on. [[model {orjson.dumps(turns(number)).decode()}]]"
    status, started = await server.call("POST", "/v1/runs", {"content": content}, key=f"run-{number}")
    assert status == 202, started
    return str(started["thread_id"])


async def begin_page(server: CrashServer) -> str:
    """A page to which an agent adds line after line; its thread's id."""
    thread_id = await new_page(server, '<ul id="list"></ul>', "page")
    lines = [
        {"type": "patches", "patches": [{"op": "append", "at": "#list", "html": f"<li>Line {number}</li>"}]}
        for number in range(PAGE_LINES)
    ]
    said = {"text": "\n".join(orjson.dumps(one).decode() for one in lines) + "\nDone.", "delay_s": 0.02}
    content = f"Add the lines. [[model {orjson.dumps([said]).decode()}]]"
    status, started = await server.call("POST", f"/v1/threads/{thread_id}/runs", {"content": content}, key="page-run")
    assert status == 202, started
    return thread_id


async def page_in(server: CrashServer, thread_id: str) -> tuple[str, int]:
    """The HTML and the version of a thread's page once its runs have ended."""
    await at_rest(server, thread_id)
    project = (await server.get("/v1/projects"))["items"][0]
    items = (await server.get(f"/v1/projects/{project['id']}/pages"))["items"]
    (found,) = [one for one in items if one["thread_id"] == thread_id]
    page = await server.get(f"/v1/pages/{found['id']}")
    assert page["html"].count("<li") == PAGE_LINES
    return page["html"], page["version"]


async def at_rest(server: CrashServer, thread_id: str) -> None:
    async def ended() -> bool:
        return (await server.get(f"/v1/threads/{thread_id}"))["run_status"] in ("complete", "error", "idle")

    with anyio.fail_after(PATIENCE_S):
        await until(ended)


async def said_in(server: CrashServer, thread_id: str) -> list[tuple[str, list[Any]]]:
    """What a thread says once its runs have ended, without ids and times."""
    await at_rest(server, thread_id)
    found = await server.get(f"/v1/threads/{thread_id}/messages")
    fields = ("type", "text", "tool", "arguments", "status", "result")
    return [(one["role"], [[part.get(name) for name in fields] for part in one["parts"]]) for one in found["items"]]


def texts(sections: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    return [(one["heading"], [block["markdown"] for block in one["blocks"]]) for one in sections]


def outlast(server: CrashServer, *words: str) -> list[str]:
    config = str(server.folder / "outlast.toml")
    return [sys.executable, "-m", "outlast", *words, "--config", config, "--data-dir", str(server.data_dir)]


# --- kills


@pytest.fixture(params=[10, pytest.param(100, marks=pytest.mark.deep)])
def kills(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def house(tmp_path: Path, migrated_sqlite: Path) -> Path:
    """A data directory with enough in it that a copy takes a moment."""
    data = tmp_path / "house"
    data.mkdir()
    shutil.copy(migrated_sqlite, data / "outlast.db")
    run_outlast("tokens", "create", "--data-dir", str(data))
    run_outlast("verify", "--data-dir", str(data))
    (data / "node").write_text("nod_1")
    for number in range(1500):
        file = data / "workspaces" / f"wsp_{number % 7}" / f"{number}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(os.urandom(2000))
    return data


def test_a_killed_backup_is_never_taken_for_whole(house: Path, tmp_path: Path, kills: int) -> None:
    chance = random.Random(seed_of_this_run())
    whole_s = seconds_of("backup", str(tmp_path / "whole"), "--data-dir", str(house))
    halves = wholes = 0
    for number in range(kills):
        folder = tmp_path / f"backup{number}"
        killed_after(chance.uniform(0.2, 1.1) * whole_s, "backup", str(folder), "--data-dir", str(house))
        target = tmp_path / f"restored{number}"
        if is_whole(folder):
            wholes += 1
            assert verify_backup(folder).problems == ()
            restore_backup(folder, place_of(target))
            assert (target / "outlast.db").is_file()
        else:
            halves += 1
            with Forked(["restore", str(folder), "--data-dir", str(target)], tmp_path / "log") as refused:
                assert refused.wait() != 0
            assert not target.exists()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(target, ignore_errors=True)
    print(f"{kills} kills of a backup ({whole_s:.2f} s): {halves} none, {wholes} whole; {SEED_VARIABLE} to repeat")
    assert halves


def test_a_killed_restore_leaves_no_data_directory_or_a_whole_one(house: Path, tmp_path: Path, kills: int) -> None:
    chance = random.Random(seed_of_this_run())
    backup = tmp_path / "backup"
    run_outlast("backup", str(backup), "--data-dir", str(house))
    manifest = read_manifest(backup)
    whole_s = seconds_of("restore", str(backup), "--data-dir", str(tmp_path / "first"))
    halves = wholes = 0
    for number in range(kills):
        target = tmp_path / "again" / f"data{number % 2}"  # so that what a killed one left is met again
        killed_after(chance.uniform(0.2, 1.1) * whole_s, "restore", str(backup), "--data-dir", str(target))
        if target.exists():
            wholes += 1
            assert list(differing(target, manifest.files, links=True)) == []
            shutil.rmtree(target)
        else:
            halves += 1
    restore_backup(backup, place_of(tmp_path / "again" / "data0"))
    print(f"{kills} kills of a restore ({whole_s:.2f} s): {halves} none, {wholes} whole; {SEED_VARIABLE} to repeat")
    assert halves


def place_of(data_dir: Path) -> Place:
    return Place(data_dir, data_dir / "blobs", "sqlite:///outlast.db")


def is_whole(folder: Path) -> bool:
    try:
        read_manifest(folder)
    except BackupIncomplete:
        return False
    return True


def seconds_of(*words: str) -> float:
    began = time.monotonic()
    run_outlast(*words)
    return time.monotonic() - began


def killed_after(seconds: float, *words: str) -> None:
    with Forked(words, Path(os.devnull)) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()

"""Damaged or full storage is told with a code and what to do, at the start and in requests; never as a traceback."""

from __future__ import annotations

import random
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from outlast.base.clock import SystemClock
from outlast.base.errors import DatabaseDamaged, DiskFull
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.cli.exits import Exit
from outlast.kernel.http.readiness import Readiness
from tests.flow.program.serving import CONFIG
from tests.flow.program.test_cli import outlast
from tests.forked import Forked


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "outlast.toml"
    file.write_text(CONFIG.format(folder=tmp_path / "data"))
    made = outlast("tokens", "create", "--config", str(file))
    assert made.returncode == Exit.OK, made.stderr
    return file


def serve(config: Path) -> tuple[int, str]:
    """The exit code of a server that cannot start, and what it said."""
    log = config.with_suffix(".log")
    with Forked(["serve", "--config", str(config)], log) as process:
        return process.wait(60), log.read_text()


def database_of(config: Path) -> Path:
    return config.parent / "data" / "outlast.db"


def damage(file: Path, how: str, begin: int = 4096) -> None:
    content = bytearray(file.read_bytes())
    if how == "header":
        content[:100] = b"\xff" * 100
    elif how == "half":
        content = content[: len(content) // 2]
    else:
        chance = random.Random(3)
        for _ in range(200):
            at = chance.randrange(begin, len(content) - 600)
            content[at : at + 600] = chance.randbytes(600)
    file.write_bytes(content)


@pytest.mark.parametrize("how", ["header", "half", "bytes"])
def test_a_damaged_database_refuses_the_start_with_what_to_do(config: Path, how: str) -> None:
    damage(database_of(config), how)
    (config.parent / "data" / "lock").write_text("1\n")  # the last server was killed
    code, said = serve(config)
    assert code == Exit.REFUSED_TO_START
    assert "database_damaged" in said
    assert "outlast restore" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("how", ["header", "half", "bytes"])
def test_the_doctor_finds_a_damaged_database(config: Path, how: str) -> None:
    damage(database_of(config), how)
    told = outlast("doctor", "--config", str(config))
    assert told.returncode == Exit.FAILED
    assert "is damaged" in told.stdout


async def test_a_page_that_is_damaged_while_the_server_runs_is_an_error_with_a_code(config: Path) -> None:
    begin = database_of(config).stat().st_size
    with sqlite3.connect(database_of(config)) as connection:
        connection.execute("create table big (value text)")
        connection.executemany("insert into big values (?)", [("x" * 3000,) for _ in range(200)])
    connection.close()
    damage(database_of(config), "bytes", begin)
    db = open_database("sqlite:///outlast.db", database_of(config).parent, SystemClock())

    def read(tx: Tx) -> int:
        return len(list(tx.conn.exec_driver_sql("select value from big order by value")))

    def write(tx: Tx) -> None:
        tx.conn.exec_driver_sql("update big set value = value || 'y'")

    try:
        for act in (db.read(read), db.write(write)):
            with pytest.raises(DatabaseDamaged) as told:
                await act
            assert "outlast restore" in told.value.hint
    finally:
        await db.aclose()


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own without any room."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], check=False)
    if mounted.returncode:
        pytest.skip("mounting a small tmpfs needs root and CAP_SYS_ADMIN")
    (folder / "ballast").write_bytes(b"\0" * 60 * 1024)
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_start_on_a_full_disk_says_so(full_disk: Path, tmp_path: Path) -> None:
    file = tmp_path / "full.toml"
    file.write_text(CONFIG.format(folder=full_disk / "data"))
    code, said = serve(file)
    assert code == Exit.REFUSED_TO_START
    assert "disk_full" in said
    assert "Traceback" not in said


class ReadOnly:
    """A database whose disk became full."""

    dialect = "sqlite"

    def __init__(self, inner: Database) -> None:
        self.inner, self.full, self.writes = inner, False, 0

    async def write(self, *args: object) -> object:
        self.writes += 1
        if self.full:
            raise DiskFull("The database could not be written: database or disk is full.")
        return await self.inner.write(*args)  # type: ignore[arg-type]

    async def read(self, *args: object) -> object:
        return await self.inner.read(*args)  # type: ignore[arg-type]


async def test_readiness_tries_a_write_and_not_with_every_question(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk everything could be read, and the server said that it was ready."""
    storage = ReadOnly(db)
    readiness = Readiness(storage, None)  # type: ignore[arg-type]
    for _ in range(3):
        ready, _ = await readiness.report()
        assert ready
    assert storage.writes == 1
    storage.full = True
    monkeypatch.setattr("outlast.kernel.http.readiness.WRITE_LIFE_S", -1.0)
    ready, told = await readiness.report()
    assert not ready
    assert "full" in told["database"]

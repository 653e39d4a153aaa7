"""Points at which a server under test is killed."""

import os
from pathlib import Path

import orjson
import pytest

from outlast.db.database import Database, Tx
from tests.crash.crash_database import CrashingDatabase, CrashPoint


def first(tx: Tx) -> None: ...


def second(tx: Tx) -> None: ...


async def test_a_point_in_a_file_with_the_number_of_the_one_before_is_noticed(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A point that was not reached is taken away, and the next file often gets the same inode."""
    struck: list[str] = []
    file = tmp_path / "point"
    crashing = CrashingDatabase(db, file)
    CrashPoint("never", 1, "before").arm(file)
    await crashing.write(first)
    inode = file.stat().st_ino
    fresh = {"label": "second", "nth": 1, "when": "after"}
    file.write_bytes(orjson.dumps(fresh))
    os.utime(file, ns=(0, file.stat().st_mtime_ns + 1))
    assert file.stat().st_ino == inode
    monkeypatch.setattr(CrashingDatabase, "_strike", lambda _: struck.append("here"))
    await crashing.write(second)
    assert struck == ["here"]

"""Files that people attach, written into a real sandbox."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from outlast.db.blobs.folder import FolderBlobs
from outlast.db.database import Database
from outlast.kernel.agents.uploads import place_uploads
from outlast.kernel.attachments.store import ThreadFile
from outlast.kernel.sandboxes.translation import Translated
from outlast_sandbox.interface import Sandbox, SandboxSpec
from outlast_sandbox.providers.local.provider import LocalProvider

pytestmark = pytest.mark.sandbox

BLOCK, BLOCKS = b"0123456789" * 100_000, 70  # more than a sandbox takes in one piece


async def test_a_large_file_is_written_in_pieces_and_one_that_does_not_fit_is_left_out(
    local: LocalProvider, spec: SandboxSpec, db: Database, tmp_path: Path
) -> None:
    raw = await local.create(replace(spec, limits=replace(spec.limits, disk_bytes=96 * 1024**2)))
    box, blobs = cast("Sandbox", Translated(raw)), FolderBlobs(tmp_path / "blobs")
    blob, size = blobs.put_pieces(BLOCK for _ in range(BLOCKS))
    files = [ThreadFile(name, "att_1", "text/plain", size, blob) for name in ("large.txt", "too large.txt")]
    await place_uploads(db, blobs, box, "thr_1", files)
    assert (await box.files.stat("/workspace/uploads/large.txt")).size == size
    assert [entry.path for entry in await box.list_files("uploads")] == ["uploads/large.txt"]
    await box.write_files([("uploads/large.txt", b"changed by the agent")])
    await place_uploads(db, blobs, box, "thr_1", files[:1])
    assert await box.read_file("uploads/large.txt", 100) == b"changed by the agent"
    await raw.kill()

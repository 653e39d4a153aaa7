"""Writes a skill's files into a sandbox, each version into a folder of its own that is never changed: what runs there
goes on when the skill is replaced."""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Final

import anyio.to_thread

from outlast.apps.skills.front_matter import MAIN
from outlast.apps.skills.rows import SkillRow
from outlast.apps.skills.store import SkillFile
from outlast.base.errors import NotFound, SandboxUnavailable
from outlast.db.blobs.port import Blobs
from outlast_sandbox.interface import Sandbox

FOLDER: Final = ".skills"
HOME: Final = "/home/user"
VERSION_CHARS: Final = 12


async def place(blobs: Blobs, sandbox: Sandbox, skill: SkillRow, files: Sequence[SkillFile]) -> str:
    """Write the files, read-only, scripts executable; returns their folder. A sandbox that takes files only into its
    workspace gets them there. Does nothing if they are there. Raises `SandboxLost`, `DiskFull`."""
    below = f"{FOLDER}/{skill.name}-{skill.digest[:VERSION_CHARS]}"
    ordered = sorted(files, key=lambda file: file.path == MAIN)  # the last one says that all are there
    try:
        inside = sandbox.files
    except SandboxUnavailable:
        with suppress(NotFound):
            await sandbox.read_file(f"{below}/{MAIN}", 1)
            return below
        for file in ordered:
            await sandbox.write_files([(f"{below}/{file.path}", await _content(blobs, file))])
        return below
    folder = f"{HOME}/{below}"
    with suppress(NotFound):
        await inside.stat(f"{folder}/{MAIN}")
        return folder
    for file in ordered:
        content = await _content(blobs, file)
        mode = 0o555 if content.startswith(b"#!") else 0o444
        await inside.write(f"{folder}/{file.path}", _once(content), mode=mode)
    return folder


async def _content(blobs: Blobs, file: SkillFile) -> bytes:
    return await anyio.to_thread.run_sync(blobs.get, file.blob)


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content

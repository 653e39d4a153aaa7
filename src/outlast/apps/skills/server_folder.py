"""Keeps the server's skills as they are in the folder of the configuration."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import anyio.to_thread

from outlast.apps.skills import store
from outlast.apps.skills.rules import Bounds, Skill, checked_skill, is_left_out
from outlast.apps.skills.settings import SkillSettings
from outlast.base.clock import Clock
from outlast.base.errors import OutlastError
from outlast.base.skill_errors import SkillInvalid
from outlast.db.blobs.port import Blobs
from outlast.db.database import Database, Tx

LOOK_S: Final = 5.0
Seen = Mapping[Path, tuple[int, int]]
log = logging.getLogger("outlast.skills")


class ServerFolder:
    """A skill that cannot be read is reported in the log; its earlier version stays until its folder is gone."""

    def __init__(self, db: Database, blobs: Blobs, clock: Clock, settings: SkillSettings) -> None:
        self._db, self._blobs, self._clock, self._settings = db, blobs, clock, settings
        self._folder = Path(settings.folder) if settings.folder else None

    async def run(self) -> None:
        """Read the folder now, and again when its files have changed and rest, until cancelled. Without a folder, ends
        once no skill of the server is left."""
        seen = before = await anyio.to_thread.run_sync(self._times)
        await self.sync()
        while self._folder is not None:
            await self._clock.sleep(LOOK_S)
            times = await anyio.to_thread.run_sync(self._times)
            if times == before != seen:
                await self.sync()
                seen = times
            before = times

    async def sync(self) -> None:
        """Store what changed in the folder. Repeatable."""
        known = await self._db.read(store.server_digests)
        found, kept = await anyio.to_thread.run_sync(self._read)
        changed = {skill.name: skill for skill in found if known.get(skill.name) != skill.digest}
        gone = known.keys() - {skill.name for skill in found} - kept
        if not changed and not gone:
            return
        blobs = {name: await anyio.to_thread.run_sync(self._stored, skill) for name, skill in changed.items()}

        def change(tx: Tx) -> None:
            store.remove_of_server(tx, gone)
            for name, skill in changed.items():
                store.put(tx, None, skill, blobs[name], None)

        await self._db.write(change)
        log.info("skills of the server changed", extra={"skills": sorted(changed), "removed": sorted(gone)})

    def _read(self) -> tuple[Sequence[Skill], set[str]]:
        """The skills, and the names of those that cannot be read."""
        found: list[Skill] = []
        kept: set[str] = set()
        for folder in self._folders():
            try:
                skill = checked_skill(self._contents(folder), Bounds(self._settings.files, self._settings.bytes))
                if skill.name != folder.name:
                    raise SkillInvalid(f"SKILL.md is named {skill.name}, unlike its folder.")
            except (OutlastError, OSError) as error:
                log.warning("skill not read: %s", error, extra={"folder": folder.name})
                kept.add(folder.name)
            else:
                found.append(skill)
        return found, kept

    def _contents(self, folder: Path) -> Mapping[str, bytes]:
        files = {path.relative_to(folder).as_posix(): path for path in _files_in(folder)}
        bounds = Bounds(self._settings.files, self._settings.bytes)
        bounds.check(len(files), sum(path.stat().st_size for path in files.values()))
        return {name: path.read_bytes() for name, path in files.items()}

    def _stored(self, skill: Skill) -> Mapping[str, str]:
        names = self._blobs.put_all(list(skill.files.values()))
        return dict(zip(skill.files, names, strict=True))

    def _folders(self) -> list[Path]:
        try:
            return sorted(one for one in self._folder.iterdir() if (one / "SKILL.md").exists()) if self._folder else []
        except OSError as error:
            log.warning("the folder of skills cannot be read: %s", error.strerror)
            return []

    def _times(self) -> Seen:
        """The time and size of each file."""
        times: dict[Path, tuple[int, int]] = {}
        for path in (path for folder in self._folders() for path in _files_in(folder)):
            try:
                stat = path.stat()
            except OSError:
                continue
            times[path] = (stat.st_mtime_ns, stat.st_size)
        return times


def _files_in(folder: Path) -> list[Path]:
    """Its files, without links: a skill may be a folder that others write to."""
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return [path for path in found if not is_left_out(path.relative_to(folder).as_posix())]

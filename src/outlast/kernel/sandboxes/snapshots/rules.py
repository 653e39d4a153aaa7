"""Decisions about snapshots: an app template's packages, the snapshot that a sandbox starts from, and unused ones.
Pure."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from outlast.kernel.sandboxes.rows import SnapshotRow
from outlast.kernel.sandboxes.templates import Template
from outlast_sandbox.interface import Project

RETRY_AFTER: Final = timedelta(minutes=5)


class BuildState(StrEnum):
    BUILDING = "building"
    READY = "ready"
    FAILED = "failed"


class Snapshot(SnapshotRow):
    """The recorded fields of one snapshot."""

    __slots__ = ()

    @property
    def template(self) -> str:
        """The app template that it is for; empty for sandboxes of any other kind."""
        return str(self.recipe.get("template", ""))


def project_of(template: Template, env: Mapping[str, str]) -> Project:
    """The installed project of an app template: only the files that the installation depends on, so that a change to
    any other file builds nothing. `env` is added to its own."""
    files = {path: template.files[path] for path in template.installed}
    return Project(template.name, files, template.commands, template.layers, {**template.env, **env})


def to_start_from(known: Iterable[Snapshot], wanted: str, template: str = "") -> Snapshot | None:
    """The wanted one if it is ready, otherwise the newest other ready one of the same app template; None if there is
    none."""
    ready = [one for one in known if one.state == BuildState.READY and one.template == template]
    for one in ready:
        if one.name == wanted:
            return one
    return max(ready, key=lambda one: one.built_at or one.last_used_at, default=None)


def must_build(known: Snapshot | None, now: datetime) -> bool:
    """True if it is to be built now: never tried, or failed a while ago (an index may have been unreachable)."""
    if known is None or known.state == BuildState.BUILDING:
        return True
    if known.state == BuildState.READY:
        return False
    return known.built_at is None or now - known.built_at >= RETRY_AFTER


def to_collect(known: Iterable[Snapshot], wanted: str | None, now: datetime, keep_days: float) -> list[Snapshot]:
    """Those that no sandbox was started from for long, oldest use first; never the wanted one, nor one being built."""
    limit = now - timedelta(days=keep_days)
    old = [
        one for one in known if one.name != wanted and one.state != BuildState.BUILDING and one.last_used_at <= limit
    ]
    return sorted(old, key=lambda one: one.last_used_at)

"""What a snapshot is built from and called, which one a sandbox starts from, which ones are given up. Pure."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from outlast.kernel.sandboxes.rows import SnapshotRow
from outlast.kernel.sandboxes.templates import Template
from outlast_sandbox.interface import Project, SnapshotRecipe
from outlast_sandbox.package_names import parse_package

NAME_LENGTH: Final = 20
RETRY_AFTER: Final = timedelta(minutes=5)


class BuildState(StrEnum):
    BUILDING = "building"
    READY = "ready"
    FAILED = "failed"


class Snapshot(SnapshotRow):
    """What is recorded of one snapshot."""

    __slots__ = ()

    @property
    def template(self) -> str:
        """The app template that it is for; empty: it is for sandboxes of any other kind."""
        return str(self.recipe.get("template", ""))


def recipe_of(
    packages: Iterable[str],
    commands: Iterable[str],
    files: Mapping[str, bytes],
    base: str,
    project: Project | None = None,
) -> SnapshotRecipe | None:
    """The recipe with its name; None when nothing is to be installed, so that the bare base is enough.

    The same packages in another order or spelling have the same name; `base` is the provider's `base_identity`.
    Raises `NotAPackage`; settings that were read name packages only, and one version of each.
    """
    dependencies = tuple(sorted({parse_package(package) for package in packages}))
    commands = tuple(commands)
    if not dependencies and not commands and not files and project is None:
        return None
    facts: list[object] = [base, dependencies, commands, _hashes(files)]
    if project is not None:
        made = [project.template, _hashes(project.files), project.commands, project.layers]
        facts.append([*made, dict(project.env)])
    whole = json.dumps(facts, sort_keys=True)
    name = f"snap-{hashlib.sha256(whole.encode()).hexdigest()[:NAME_LENGTH]}"
    return SnapshotRecipe(name, dependencies, commands, dict(files), project)


def project_of(template: Template, env: Mapping[str, str]) -> Project:
    """What is installed for an app template: of its files those that this depends on, so that a change to any other
    builds nothing. `env` is added to its own."""
    files = {path: template.files[path] for path in template.installed}
    return Project(template.name, files, template.commands, template.layers, {**template.env, **env})


def _hashes(files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: hashlib.sha256(data).hexdigest() for path, data in sorted(files.items())}


def to_start_from(known: Iterable[Snapshot], wanted: str, template: str = "") -> Snapshot | None:
    """The wanted one if it is ready, else the newest other one of the same app template that is; None when there is
    none."""
    ready = [one for one in known if one.state == BuildState.READY and one.template == template]
    for one in ready:
        if one.name == wanted:
            return one
    return max(ready, key=lambda one: one.built_at or one.last_used_at, default=None)


def must_build(known: Snapshot | None, now: datetime) -> bool:
    """Whether to build it now: never tried, or failed a while ago (an index may have been away)."""
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

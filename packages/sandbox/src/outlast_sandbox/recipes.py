"""Snapshot recipes and their names, which are hashes of their contents. Pure."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Final

from outlast_sandbox.interface import Project, SnapshotRecipe
from outlast_sandbox.package_names import parse_package

NAME_LENGTH: Final = 20


def recipe_of(
    dependencies: Iterable[str],
    commands: Iterable[str],
    files: Mapping[str, bytes],
    base: str,
    project: Project | None = None,
) -> SnapshotRecipe | None:
    """The recipe with its name, or None if nothing is to be installed, so that the bare base is enough.

    The same dependencies in another order or spelling give the same name; `base` is the provider's `base_identity`.
    Raises `NotAPackage` for a dependency that is not a package.
    """
    dependencies = tuple(sorted({parse_package(package) for package in dependencies}))
    commands = tuple(commands)
    if not dependencies and not commands and not files and project is None:
        return None
    facts: list[object] = [base, dependencies, commands, _hashes(files)]
    if project is not None:
        parts = [project.template, _hashes(project.files), project.commands, project.layers]
        facts.append([*parts, dict(project.env)])
    whole = json.dumps(facts, sort_keys=True)
    name = f"snap-{hashlib.sha256(whole.encode()).hexdigest()[:NAME_LENGTH]}"
    return SnapshotRecipe(name, dependencies, commands, dict(files), project)


def _hashes(files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: hashlib.sha256(data).hexdigest() for path, data in sorted(files.items())}

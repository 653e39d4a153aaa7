"""What a snapshot is built from and called, which one a sandbox starts from, which ones are given up. Pure."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from outlast.base.errors import InvalidSetting
from outlast.core.sandboxes.interface import SnapshotRecipe

NPM: Final = "npm:"
PYPI: Final = "pypi:"
NAME_LENGTH: Final = 20
RETRY_AFTER: Final = timedelta(minutes=5)
_NPM_PACKAGE: Final = re.compile(
    r"((?:@[a-z0-9~-][\w.~-]*/)?[a-z0-9~][\w.~-]*)(?:@([\w.^~*<>=|+ -]+))?", re.IGNORECASE
)
_PYPI_PACKAGE: Final = re.compile(r"([A-Za-z0-9][\w.-]*)(\[[\w., -]+\])?\s*((?:[=<>!~]=?=?[^\s;@]+)?)")


class State(StrEnum):
    BUILDING = "building"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Known:
    """What is recorded of one snapshot. `error` says why a failed one failed."""

    name: str
    state: State
    ref: str
    built_at: datetime | None
    last_used_at: datetime
    error: str | None = None


def recipe_of(
    packages: Iterable[str], commands: Iterable[str], files: Mapping[str, bytes], base: str
) -> SnapshotRecipe | None:
    """The recipe with its name; None when nothing is to be installed, so that the bare base is enough.

    The same packages in another order or spelling have the same name; `base` is the provider's `base_identity`.
    Raises `InvalidSetting` for what is no package, and for two versions of one.
    """
    dependencies = tuple(sorted({dependency_of(package) for package in packages}))
    commands = tuple(commands)
    if not dependencies and not commands and not files:
        return None
    _check_versions(dependencies)
    contents = {path: hashlib.sha256(data).hexdigest() for path, data in sorted(files.items())}
    whole = json.dumps([base, dependencies, commands, contents], sort_keys=True)
    name = f"snap-{hashlib.sha256(whole.encode()).hexdigest()[:NAME_LENGTH]}"
    return SnapshotRecipe(name, dependencies, commands, dict(files))


def dependency_of(package: str) -> str:
    """`npm:NAME@VERSION` or `pypi:NAME==VERSION` in one spelling; a bare name is npm's, as in the seed. The version may
    be left out. Raises `InvalidSetting`."""
    text = package.strip()
    if text.startswith(PYPI):
        return PYPI + _pypi(text.removeprefix(PYPI), package)
    match = _NPM_PACKAGE.fullmatch(text.removeprefix(NPM))
    if match is None:
        raise _no_package(package)
    return NPM + match[1] + (f"@{match[2].strip()}" if match[2] else "")


def name_of(dependency: str) -> str:
    """The package without its version, as `npm:NAME` or `pypi:NAME`."""
    if dependency.startswith(PYPI):
        return re.split(r"[\[=<>!~]", dependency, maxsplit=1)[0].lower().replace("_", "-")
    kind, name = NPM, dependency.removeprefix(NPM)
    return kind + name[0] + name[1:].partition("@")[0]


def to_start_from(known: Iterable[Known], wanted: str) -> Known | None:
    """The wanted one if it is ready, else the newest other one that is; None when there is none."""
    ready = [one for one in known if one.state is State.READY]
    for one in ready:
        if one.name == wanted:
            return one
    return max(ready, key=lambda one: one.built_at or one.last_used_at, default=None)


def must_build(known: Known | None, now: datetime) -> bool:
    """Whether to build it now: never tried, or failed a while ago (an index may have been away)."""
    if known is None or known.state is State.BUILDING:
        return True
    if known.state is State.READY:
        return False
    return known.built_at is None or now - known.built_at >= RETRY_AFTER


def to_collect(known: Iterable[Known], wanted: str | None, now: datetime, keep_days: float) -> list[Known]:
    """Those that nobody has started from for long, oldest use first; never the wanted one, nor one being built."""
    limit = now - timedelta(days=keep_days)
    old = [
        one
        for one in known
        if one.name != wanted and one.state is not State.BUILDING and one.last_used_at <= limit
    ]
    return sorted(old, key=lambda one: one.last_used_at)


def _pypi(text: str, package: str) -> str:
    match = _PYPI_PACKAGE.fullmatch(text.strip())
    if match is None:
        raise _no_package(package)
    name = re.sub(r"[-_.]+", "-", match[1]).lower()
    return f"{name}{(match[2] or '').replace(' ', '')}{match[3]}"


def _check_versions(dependencies: Iterable[str]) -> None:
    seen: dict[str, str] = {}
    for dependency in dependencies:
        other = seen.setdefault(name_of(dependency), dependency)
        if other != dependency:
            raise InvalidSetting(
                f"sandbox.dependencies names {other} and {dependency}: only one of them can be installed.",
                hint="Keep one version of each package.",
                setting="sandbox.dependencies.package",
            )


def _no_package(package: str) -> InvalidSetting:
    return InvalidSetting(
        f"sandbox.dependencies: {package[:120]!r} is no package.",
        hint="Write npm:NAME@VERSION, pypi:NAME==VERSION, or a bare npm name.",
        setting="sandbox.dependencies.package",
        expected="npm:NAME@VERSION, pypi:NAME==VERSION, or a bare npm name",
    )

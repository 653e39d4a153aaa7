"""What this server's snapshots are built from: the configured recipe, and one for each app template."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import anyio.to_thread

from outlast.base.errors import InvalidSetting, MalformedInput
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.snapshots.rules import project_of, recipe_of
from outlast.kernel.sandboxes.templates import Templates
from outlast_sandbox.interface import SandboxProvider, SnapshotRecipe

CONFIGURED: Final = ""  # in place of an app template's name: what every other sandbox starts from
TEMPLATE_BYTES: Final = 64 * 1024 * 1024
LEFT_OUT: Final = frozenset({".git", "node_modules"})

log = logging.getLogger("outlast.snapshots")


class Recipes:
    """In memory: those that were asked for, since they take reading many files."""

    def __init__(
        self, provider: SandboxProvider, settings: SandboxSettings, templates: Templates, env: Mapping[str, str]
    ) -> None:
        """`env` is added to each app template's own. Raises `InvalidSetting` for a configured folder that is none."""
        if settings.template:
            check_template(settings.template)
        self._provider, self._settings, self._templates, self._env = provider, settings, templates, env
        self._known: dict[str, SnapshotRecipe | None] = {}

    @property
    def templates(self) -> list[str]:
        return sorted(self._templates)

    async def of(self, template: str = CONFIGURED) -> SnapshotRecipe | None:
        """The recipe for sandboxes of this app template, with what is configured for all of them in it too; None:
        nothing is to be installed, or the provider has no snapshots. Raises `MalformedInput` (no such template),
        `InvalidSetting` for a configured folder that cannot be read."""
        if template not in self._known:
            self._known[template] = await self._read(template)
        return self._known[template]

    async def _read(self, template: str) -> SnapshotRecipe | None:
        folder = self._settings.template
        packages = [one.package for one in self._settings.dependencies if one.package]
        files = await anyio.to_thread.run_sync(read_template, folder) if folder else {}
        project = None
        if template != CONFIGURED:
            if template not in self._templates:
                known = ", ".join(self.templates) or "none"
                raise MalformedInput(f"There is no app template {template[:80]!r}.", hint=f"There are: {known}.")
            project = project_of(self._templates[template], self._env)
        wanted = bool(packages or self._settings.setup or files or project)
        base = await self._provider.base_identity() if wanted else ""
        recipe = recipe_of(packages, self._settings.setup, files, base, project)
        if recipe is not None and not self._provider.capabilities.snapshot:
            log.warning(
                "this provider has no snapshots: nothing is installed in its sandboxes beforehand",
                extra={"provider": self._provider.name, "template": template},
            )
            return None
        return recipe


def check_template(folder: str) -> Path:
    """The configured folder, whose files are copied into every sandbox's home folder. Raises `InvalidSetting` when it
    does not exist."""
    root = Path(folder).expanduser()
    if not root.is_dir():
        raise _bad_template(folder, "there is no such folder")
    return root


def read_template(folder: str) -> Mapping[str, bytes]:
    """The files below a folder by relative path, without `.git` and `node_modules`; links are left out. Blocking.
    Raises `InvalidSetting` when it is not a folder, or holds more than 64 MiB."""
    root = check_template(folder)
    found: dict[str, bytes] = {}
    size = 0
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if LEFT_OUT & set(relative.parts) or path.is_symlink() or not path.is_file():
            continue
        size += path.stat().st_size
        if size > TEMPLATE_BYTES:
            raise _bad_template(folder, "it holds more than 64 MiB")
        found[relative.as_posix()] = path.read_bytes()
    return found


def _bad_template(folder: str, why: str) -> InvalidSetting:
    return InvalidSetting(
        f"sandbox.template: {folder}: {why}.",
        hint="Name a folder with the files that every sandbox's home folder is to hold.",
        setting="sandbox.template",
        expected="a folder",
    )

"""The recipes of this server's snapshots: the configured one, and one for each app template."""

import logging
from collections.abc import Mapping
from typing import Final

import anyio.to_thread

from outlast.base.errors import MalformedInput
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.snapshots.rules import project_of
from outlast.kernel.sandboxes.snapshots.template_folder import check_template, read_template
from outlast.kernel.sandboxes.templates import Templates
from outlast_sandbox.interface import SandboxProvider, SnapshotRecipe
from outlast_sandbox.recipes import recipe_of

CONFIGURED: Final = ""  # in place of an app template's name: the snapshot of every other sandbox

log = logging.getLogger("outlast.snapshots")


class Recipes:
    """In memory: the recipes requested so far, since a recipe takes reading many files."""

    def __init__(
        self, provider: SandboxProvider, settings: SandboxSettings, templates: Templates, env: Mapping[str, str]
    ) -> None:
        """`env` is added to each app template's own. Raises `InvalidSetting` if a configured folder does not exist."""
        if settings.template:
            check_template(settings.template)
        self._provider, self._settings, self._templates, self._env = provider, settings, templates, env
        self._known: dict[str, SnapshotRecipe | None] = {}

    @property
    def templates(self) -> list[str]:
        return sorted(self._templates)

    async def of(self, template: str = CONFIGURED) -> SnapshotRecipe | None:
        """The recipe for sandboxes of this app template, including the configured packages for all of them. None if
        nothing is to be installed, or the provider has no snapshots. Raises `MalformedInput` (unknown template),
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
                raise MalformedInput(f"Unknown app template {template[:80]!r}.", hint=f"Available: {known}.")
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

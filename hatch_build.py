"""Puts the built web app and the app templates into the wheel, so that an installed Outlast serves its page without
Node and makes screens without a source tree.

An editable install is left alone: there `make setup` builds the app (scripts/web.py, the same code).
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LEFT_OUT = frozenset({"node_modules", ".next", ".vite", "dist", "out"})


class WebAppHook(BuildHookInterface):
    """Runs before the files of a wheel are collected."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds web/ when its sources changed; a source distribution already carries the result."""
        if self.target_name == "wheel" and version != "editable":
            build_data["force_include"].update(self._templates())
        script = Path(self.root, "scripts", "web.py")
        if version == "editable" or not script.is_file():
            return
        if runpy.run_path(str(script))["main"]("build"):
            raise RuntimeError("the web app could not be built, see above")

    def _templates(self) -> dict[str, str]:
        """The files of templates/, without what tools leave in there, by their path in the package."""
        root = Path(self.root, "templates")
        return {
            str(path): f"outlast/_templates/{path.relative_to(root).as_posix()}"
            for path in sorted(root.rglob("*"))
            if path.is_file() and not LEFT_OUT & set(path.relative_to(root).parts)
        }

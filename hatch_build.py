"""Puts the built web app, the documentation's site and the app templates into the wheel, so that an installed Outlast
serves them without Node, MkDocs or a source tree.

An editable install is left alone: there `make setup` builds both (scripts/web.py and scripts/site.py, the same code).
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
        """Builds web/ and docs/ when their sources changed; a source distribution already carries the results."""
        if self.target_name == "wheel" and version != "editable":
            build_data["force_include"].update(self._templates())
        for name in ("web.py", "site.py") if version != "editable" else ():
            script = Path(self.root, "scripts", name)
            if script.is_file() and runpy.run_path(str(script))["main"]("build"):
                raise RuntimeError(f"scripts/{name} could not build its part, see above")

    def _templates(self) -> dict[str, str]:
        """The files of templates/, without what tools leave in there, by their path in the package."""
        root = Path(self.root, "templates")
        return {
            str(path): f"outlast/_templates/{path.relative_to(root).as_posix()}"
            for path in sorted(root.rglob("*"))
            if path.is_file() and not LEFT_OUT & set(path.relative_to(root).parts)
        }

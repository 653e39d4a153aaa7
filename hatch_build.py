"""Puts the built web app into the wheel, so that an installed Outlast serves its page without Node.

An editable install is left alone: there `make setup` builds the app (scripts/web.py, the same code).
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WebAppHook(BuildHookInterface):
    """Runs before the files of a wheel are collected."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds web/ when its sources changed; a source distribution already carries the result."""
        script = Path(self.root, "scripts", "web.py")
        if version == "editable" or not script.is_file():
            return
        if runpy.run_path(str(script))["main"]("build"):
            raise RuntimeError("the web app could not be built, see above")

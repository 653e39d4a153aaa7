"""Packages that sandboxes have installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from outlast.kernel.sandboxes.snapshots.installed import InstalledPackages
from outlast.kernel.sandboxes.translation import translated_provider


class Provider:
    """Its snapshots are folders of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def snapshot_home(self, ref: str) -> Path | None:
        return self._folder / ref


class Snapshots:
    """The configured one is built."""

    async def ready_ref(self) -> str:
        return "built"


# The server's provider is wrapped for its errors: its snapshots were never looked into, and no docs of installed
# packages were found.
async def test_the_snapshot_of_a_wrapped_provider_is_looked_into(tmp_path: Path) -> None:
    folder = tmp_path / "built" / "node_modules" / "left-pad"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"version": "1.3.0"}))
    provider: Any = Provider(tmp_path)
    snapshots: Any = Snapshots()
    installed = InstalledPackages(translated_provider(provider), snapshots)
    assert await installed.version("npm:left-pad") == "1.3.0"

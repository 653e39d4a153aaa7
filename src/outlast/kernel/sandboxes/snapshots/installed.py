"""Files of the packages installed in sandboxes, read from the snapshot that sandboxes start from."""

from pathlib import Path
from typing import Protocol, runtime_checkable

import anyio.to_thread

from outlast.kernel.sandboxes.snapshots.keeper import SnapshotKeeper
from outlast.kernel.sandboxes.translation import untranslated
from outlast_sandbox.interface import SandboxProvider
from outlast_sandbox.package_names import name_of
from outlast_sandbox.providers.local.installed_packages import Wanted, files_in, version_in


@runtime_checkable
class ShowsSnapshots(Protocol):
    """A provider whose snapshots are folders of this machine."""

    def snapshot_home(self, ref: str) -> Path | None:
        """The home folder in it, or None if it does not exist."""


class InstalledPackages:
    """Reads the configured snapshot, once it is built, if the provider's snapshots are readable."""

    def __init__(self, provider: SandboxProvider, snapshots: SnapshotKeeper) -> None:
        # `isinstance` below does not see through the wrapper.
        self._provider, self._snapshots = untranslated(provider), snapshots

    async def version(self, package: str) -> str:
        """The installed version of a parsed package; empty if not known."""
        home = await self._home()
        return "" if home is None else await anyio.to_thread.run_sync(version_in, home, name_of(package))

    async def files(self, package: str, wanted: Wanted, most_bytes: int) -> tuple[str, dict[str, bytes]] | None:
        """(version, files by path within the package): the files whose path is wanted, at most `most_bytes` together.
        None if the package is not installed, or not known."""
        home = await self._home()
        if home is None:
            return None
        return await anyio.to_thread.run_sync(files_in, home, name_of(package), wanted, most_bytes)

    async def _home(self) -> Path | None:
        if not isinstance(self._provider, ShowsSnapshots):
            return None
        ref = await self._snapshots.ready_ref()
        return self._provider.snapshot_home(ref) if ref else None

"""What a sandbox and a provider answer to calls whose capability they lack: a clear refusal. To be inherited from."""

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from outlast_sandbox.errors import SandboxUnavailable
from outlast_sandbox.interactive import Files, Processes
from outlast_sandbox.interface import BuiltSnapshot, Progress, SnapshotRecipe


class SandboxDefaults:
    """The optional calls of a `Sandbox`, refused."""

    async def ping(self) -> None:
        return None

    async def log(self) -> str:
        return ""

    def disk_folders(self) -> Sequence[Path]:
        return ()

    def process_ids(self) -> list[int]:
        return []

    def ends_with(self, error: Exception) -> None:
        """Where a call cannot tell why it was cut off, it tells only that."""

    async def dial(self, port: int) -> socket.socket:
        lacking("preview", f"port {port} cannot be reached")

    async def egress_listener(self) -> socket.socket:
        lacking("egress", "there is no way out to watch over")

    @property
    def processes(self) -> Processes:
        lacking("interactive", "no process can be talked to")

    @property
    def files(self) -> Files:
        lacking("interactive", "files beyond the workspace cannot be reached")


class ProviderDefaults:
    """The optional calls of a `SandboxProvider`, refused."""

    async def base_identity(self) -> str:
        return ""

    async def build_snapshot(self, recipe: SnapshotRecipe, progress: Progress) -> BuiltSnapshot:
        lacking("snapshot", f"{recipe.name} cannot be built")

    async def has_snapshot(self, ref: str) -> bool:
        return True

    async def remove_snapshot(self, ref: str) -> None:
        return None


def lacking(capability: str, consequence: str) -> NoReturn:
    """Raise `SandboxUnavailable` for a capability that the provider has not."""
    raise SandboxUnavailable(
        f"The sandbox provider has not the capability {capability!r}: {consequence}.",
        hint="Choose a provider that has it; /docs/concepts/sandboxes/ lists what each can do.",
        capability=capability,
    )

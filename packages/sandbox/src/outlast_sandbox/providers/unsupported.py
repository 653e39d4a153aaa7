"""Base classes whose optional calls raise `SandboxUnavailable` with a clear message. To be inherited from."""

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from outlast_sandbox.errors import SandboxUnavailable
from outlast_sandbox.interactive import Files, Processes
from outlast_sandbox.interface import BuiltSnapshot, Progress, SnapshotRecipe


class SandboxDefaults:
    """The optional calls of a `Sandbox`; each one is refused."""

    @property
    def fence(self) -> int:
        return 0

    @property
    def host(self) -> str:
        return ""

    async def ping(self) -> None:
        return None

    async def log(self) -> str:
        return ""

    def disk_folders(self) -> Sequence[Path]:
        return ()

    def process_ids(self) -> list[int]:
        return []

    def ends_with(self, error: Exception) -> None:
        """Does nothing: calls in progress raise a plain `SandboxLost`."""

    async def dial(self, port: int) -> socket.socket:
        lacking("preview", f"port {port} cannot be reached")

    async def egress_listener(self) -> socket.socket:
        lacking("egress", "its network traffic cannot be controlled")

    @property
    def processes(self) -> Processes:
        lacking("interactive", "interactive processes are not supported")

    @property
    def files(self) -> Files:
        lacking("interactive", "files outside the workspace cannot be reached")


class ProviderDefaults:
    """The optional calls of a `SandboxProvider`; each one is refused."""

    async def base_identity(self) -> str:
        return ""

    async def build_snapshot(self, recipe: SnapshotRecipe, progress: Progress) -> BuiltSnapshot:
        lacking("snapshot", f"{recipe.name} cannot be built")

    async def has_snapshot(self, ref: str) -> bool:
        return True

    async def remove_snapshot(self, ref: str) -> None:
        return None


def lacking(capability: str, consequence: str) -> NoReturn:
    """Raise `SandboxUnavailable` for a capability that the provider lacks."""
    raise SandboxUnavailable(
        f"The sandbox provider does not have the capability {capability!r}: {consequence}.",
        hint="Choose a provider that has it; /docs/concepts/sandboxes/ lists the capabilities of each.",
        capability=capability,
    )

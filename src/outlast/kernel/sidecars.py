"""Services that other packages run beside the server, on a loopback port, for agents to use.  A package declares a
`Sidecar` as an entry point of the group `outlast.sidecars`. Each sidecar decides from the settings whether it runs;
once open, it is a dependency of the sandboxes like those that an operator configures.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

import anyio
from anyio.abc import TaskStatus

from outlast.base.clock import Clock
from outlast.base.plugins import plugins
from outlast.kernel.sandboxes.settings import DependencySettings
from outlast.kernel.settings import Settings

GROUP: Final = "outlast.sidecars"
log = logging.getLogger(__name__)


class OpenSidecar(Protocol):
    """A sidecar that holds its port, and serves it once `run` has started."""

    @property
    def name(self) -> str:
        """The name of its task, for operators."""

    @property
    def secrets(self) -> Mapping[str, str]:
        """Secrets by the name of their environment variable, for the look-up beside the environment."""

    def dependency(self) -> DependencySettings:
        """The dependency that gives sandboxes the service, as an operator would configure it."""

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled; `task_status.started` once it answers."""

    def close(self) -> None:
        """Release the port. Repeatable."""


class Sidecar(Protocol):
    """The object of an entry point."""

    @property
    def summary(self) -> str:
        """The purpose in one sentence, for `outlast doctor` and the start."""

    def is_wanted(self, settings: Settings) -> bool:
        """True if a server with these settings runs it."""

    def open(self, settings: Settings, folder: Path, clock: Clock) -> OpenSidecar | None:
        """Bind a port; the sidecar's data goes into its own folder in `folder`, the data directory. None if it finds no
        port, which it logs."""


def wanted_sidecars(settings: Settings) -> list[Sidecar]:
    """The installed sidecars that run with these settings, by name. A sidecar that cannot be loaded is left out, with a
    warning."""
    sidecars: list[Sidecar] = []
    if settings.sandbox is None:
        return sidecars
    for entry in sorted(plugins(GROUP), key=lambda entry: entry.name):
        try:
            sidecar: Sidecar = entry.load()
            if sidecar.is_wanted(settings):
                sidecars.append(sidecar)
        except Exception:  # any code of another package may run here
            log.warning("the sidecar %s cannot be loaded and is left out", entry.name, exc_info=True)
    return sidecars


@contextmanager
def open_sidecars(settings: Settings, folder: Path, clock: Clock) -> Iterator[Sequence[OpenSidecar]]:
    """The bound sidecars that run with these settings; they release their ports at the end."""
    with ExitStack() as stack:
        opened = []
        for sidecar in wanted_sidecars(settings):
            if (one := sidecar.open(settings, folder, clock)) is not None:
                stack.callback(one.close)
                opened.append(one)
        yield opened


def with_dependencies(settings: Settings, sidecars: Sequence[OpenSidecar]) -> Settings:
    """The settings with each sidecar as a dependency of the sandboxes."""
    if not sidecars or settings.sandbox is None:
        return settings
    dependencies = (*settings.sandbox.dependencies, *(sidecar.dependency() for sidecar in sidecars))
    return replace(settings, sandbox=replace(settings.sandbox, dependencies=dependencies))

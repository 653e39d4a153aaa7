"""What a leg is given to work with, and what both legs and actions need to end or park a run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from outlast.base.clock import Clock
from outlast.base.settings import Settings
from outlast.db.database import Database
from outlast.kernel.models.catalog import ModelCatalog
from outlast.kernel.runs.profile import Profile
from outlast.kernel.streams.hub import Hub
from outlast.kernel.streams.writer import Flusher


class FileKeeping(Protocol):
    """What the sandboxes room does for the files that runs change."""

    def changed(self, workspace_id: str, run_id: str | None, effect_id: str | None) -> None:
        """A tool call may have changed files: a checkpoint is taken soon, beside what the run does next."""

    async def settled(self, workspace_id: str) -> None:
        """Return once that is done. Does not raise."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The open resources that runs stand on. `image` reads an attachment's bytes for a model that sees; `files` is None
    where there are no sandboxes."""

    db: Database
    hub: Hub
    clock: Clock
    settings: Settings
    catalog: ModelCatalog
    profiles: Mapping[str, Profile]
    flusher: Flusher
    node_id: str
    log: Callable[..., None]
    files: FileKeeping | None = None

    def questions(self) -> frozenset[str]:
        """Names of the tools whose calls are questions to a person."""
        return frozenset(t.name for p in self.profiles.values() for t in p.tools.values() if t.asks_person)

    def max_steps(self, profile: str) -> int:
        own = self.settings.profiles.get(profile)
        value: Any = own.max_steps if own is not None else None
        return int(value if value is not None else self.settings.runs.max_steps)

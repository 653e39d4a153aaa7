"""What a search of documentation and modules needs from others."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleText:
    """A saved module as search sees it: text by which it is found, and `hash`, the key of that text's vector."""

    id: str
    path: str
    description: str
    exports: Sequence[str]
    usage: str
    hash: str
    verified: bool
    updated_at: datetime


class ModuleShelf(Protocol):
    """Whoever keeps modules."""

    async def living(self, *, project_id: str, workspace_id: str | None, user_id: str | None) -> Sequence[ModuleText]:
        """The modules of this workspace whose files live now (in its volume or a checkpoint), and those published by
        or to this user. Those whose files are gone are cleaned up by this very call."""


class QueryEmbedder(Protocol):
    """What turns a query into a vector: float16, little-endian, length 1, as the passages' vectors are."""

    @property
    def model(self) -> str:
        """Key of the vectors that it makes: name of the model, with dimensions."""

    async def embed(self, texts: Sequence[str]) -> list[bytes]: ...

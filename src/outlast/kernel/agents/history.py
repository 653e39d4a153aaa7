"""What profiles share when they tell a model of the conversation so far: how many messages, what is done when they
cannot be read, and the images in them."""

import logging
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import sqlalchemy as sa

from outlast.base.errors import NotFound
from outlast.base.settings import Settings
from outlast.db.blobs import FolderBlobs
from outlast.db.database import Tx
from outlast.kernel.agents.context import LoadImage
from outlast.kernel.attachments.tables import attachments
from outlast.kernel.models.protocol import ModelSpec
from outlast.kernel.runs.history import Exchange, exchanges_before
from outlast.kernel.runs.model import Run

T = TypeVar("T")
UNREADABLE: Final = (
    ("history_unavailable", "Earlier messages could not be read, so the answer was written without them."),
)
NOT_READABLE: Final = (KeyError, TypeError, ValueError, AttributeError)
log = logging.getLogger("outlast.agents")


def messages_told(settings: Settings, profile: str) -> int:
    """How many of the last messages a profile's model is told."""
    own = settings.profiles.get(profile)
    chosen = own.context_messages if own is not None else None
    return int(chosen if chosen is not None else settings.runs.context_messages)


def token_budget(settings: Settings, model: ModelSpec) -> int:
    """How many tokens of history a model is told: at most half of what it can read, as the run itself needs room."""
    return min(settings.runs.context_tokens, model.context_tokens // 2)


def with_history(
    tx: Tx, run: Run, limit: int, render: Callable[[Sequence[Exchange]], T]
) -> tuple[T, Sequence[tuple[str, str]]]:
    """(what `render` makes of the last exchanges, notices for the person). Where a stored message is not readable as
    one: of the run's own message alone, with a warning in the log and a notice."""
    try:
        return render(exchanges_before(tx, run, limit)), ()
    except NOT_READABLE as error:
        log.warning("history not readable", extra={"run_id": run.id, "error": error})
        return render(exchanges_before(tx, run, 1)), UNREADABLE


def image_loader(tx: Tx, blobs: FolderBlobs, *, sees: bool) -> LoadImage:
    """Finds an image's type and bytes by its attachment's id; for a model that does not see, none."""

    def load(attachment_id: str) -> tuple[str, bytes] | None:
        if not sees:
            return None
        row = tx.one(
            sa.select(attachments.c.blob, attachments.c.media_type).where(attachments.c.id == attachment_id)
        )
        try:
            return None if row is None else (row["media_type"], blobs.get(row["blob"]))
        except NotFound:  # the answer goes on without it, and says that it was not shown
            return None

    return load

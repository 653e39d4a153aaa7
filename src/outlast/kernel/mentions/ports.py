"""The port of mentions to the app that has comments."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from outlast.db.database import Tx
from outlast.kernel.apps.ports import Port


class CommentPlace(NamedTuple):
    """The place of a mention's comment. `thread_id`: the thread about it."""

    document_title: str | None = None
    section_id: str | None = None
    block_id: str | None = None
    thread_id: str | None = None
    thread_title: str | None = None


class Comments(Protocol):
    """Comments on documents. First argument: the open transaction."""

    def hold(self, tx: Tx, document_id: str) -> None:
        """Lock the document until the transaction ends: it is locked before its comments. Raises `NotFound`."""
        return

    def places(self, tx: Tx, mention_ids: Sequence[str]) -> Mapping[str, CommentPlace]:
        """The place of each mention's comment, by mention id; all must be mentions in comments."""
        return {}


class NoComments(Comments):
    """An implementation without comments."""


COMMENTS: Final[Port[Comments]] = Port("comments", NoComments())

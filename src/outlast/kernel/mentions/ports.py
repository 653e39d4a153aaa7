"""What mentions need of the app that has comments."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from outlast.db.database import Tx
from outlast.kernel.apps.ports import Port


class CommentPlace(NamedTuple):
    """Where the comment of a mention is. `thread_id`: that in which it is talked about."""

    document_title: str | None = None
    section_id: str | None = None
    block_id: str | None = None
    thread_id: str | None = None
    thread_title: str | None = None


class Comments(Protocol):
    """Comments on documents. First argument: the open transaction."""

    def hold(self, tx: Tx, document_id: str) -> None:
        """Hold the document until the transaction ends: it is locked before what is on it. Raises `NotFound`."""
        return

    def places(self, tx: Tx, mention_ids: Sequence[str]) -> Mapping[str, CommentPlace]:
        """By mention, where its comment is; all of them are of comments."""
        return {}


class NoComments(Comments):
    """There are none."""


COMMENTS: Final[Port[Comments]] = Port("comments", NoComments())

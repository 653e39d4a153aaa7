"""Mentions: the users named in a message, and the mentions they have seen."""

from collections.abc import Iterable, Sequence

from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.apps import registry
from outlast.kernel.inbox.shapes import InboxChanged
from outlast.kernel.mentions import store
from outlast.kernel.mentions.inbox_items import INBOX
from outlast.kernel.mentions.ports import COMMENTS
from outlast.kernel.mentions.store import Where
from outlast.kernel.services import in_write
from outlast.kernel.streams.log_store import append
from outlast.kernel.threads.parts import TextPart
from outlast.kernel.threads.shapes import MessageData


@in_write
def read_mention(tx: Tx, actor: Actor, mention_id: str) -> None:
    """Remove a mention that the actor has seen, or a comment assigned to them, from the inbox. Repeating is harmless.
    Raises `NotFound`, also for another user's."""
    mention = store.mention_of(tx, mention_id, actor.user_id)
    if mention.document_id is not None:  # locked before its comments and the project's log (docs/concepts/locking.md)
        registry.implementation(COMMENTS).hold(tx, mention.document_id)
    tell(tx, store.read(tx, actor.user_id, mention_id=mention_id))


@in_write
def see_thread(tx: Tx, actor: Actor, thread_id: str) -> None:
    """Mark the actor's mentions in a thread as seen, since they opened it."""
    tell(tx, store.read(tx, actor.user_id, thread_id=thread_id))


def tell_named(
    tx: Tx, actor: Actor, project_id: str, message: MessageData, chosen: Sequence[str] = (), told: Sequence[str] = ()
) -> None:
    """Add a person's message to the inbox of each member it names or its writer picked, except members who were
    already notified of the same text (`told`)."""
    text = text_of(message)
    named = store.named_in(tx, project_id, text, chosen)
    fresh = [user_id for user_id in named.users if user_id not in told]
    if fresh:
        where = Where(project_id, "message", message.id, text, actor.user_id, thread_id=message.thread_id)
        tell(tx, [(project_id, news) for news in store.tell(tx, where, fresh)])


def tell(tx: Tx, news: Iterable[tuple[str, InboxChanged]]) -> None:
    """Wake the inboxes of these projects' members. After the threads' own events, by the order of locks."""
    for project_id, one in news:
        append(tx, project_id, [(INBOX, one)])


def text_of(message: MessageData) -> str:
    """The text that a user wrote."""
    return "\n".join(part.text for part in message.parts if isinstance(part, TextPart))

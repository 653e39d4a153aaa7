"""Undo a compaction."""

from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.compactions import store
from outlast.kernel.projects.permissions import require_thread
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import in_write


@in_write
def undo_compaction(tx: Tx, actor: Actor, thread_id: str, compaction_id: str) -> None:
    """Let the agent read the messages themselves again (editors), or the summary before this one. They are summarized
    again only if they do not fit into the model's context. Repeating is harmless. Raises `NotFound`."""
    require_thread(tx, actor, thread_id, Right.EDIT)
    store.undo(tx, thread_id, compaction_id, actor.user_id)

"""News of a thread that its subject (a screen, a page, a document) also shows."""

from functools import partial

from outlast.db.database import Tx
from outlast.kernel.subjects import registry
from outlast.kernel.subjects.hooks import call_guarded
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.shapes import ThreadData


def announce_thread(tx: Tx, thread_id: str) -> ThreadData:
    """Publish the state of a thread, and of its subject if it has one. Returns the thread."""
    data = threads.announce(tx, thread_id)
    noun = (data.anchor or {}).get("type")
    if registry.subject(noun) is not None:
        announce = partial(registry.announce_of_thread, tx, noun, thread_id)
        call_guarded(tx, str(noun), "changed its thread", announce, None)
    return data

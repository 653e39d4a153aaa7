"""Compactions on the wire."""

from outlast.base.events import Frozen


class CompactionData(Frozen):
    """A summary of the oldest messages of a thread, which its agent reads instead of them."""

    id: str
    thread_id: str
    to_position: int
    last_position: int
    text: str
    run_id: str | None = None
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    created_at: str


class ThreadCompacted(Frozen):
    """The summary that the thread's agent reads instead of its oldest messages has changed; null: it reads the messages
    themselves."""

    thread_id: str
    compaction: CompactionData | None = None

"""Locks of threads and of sections."""

from typing import Literal

from outlast.base.events import Frozen


class LockData(Frozen):
    """The driver of a thread or the editor of a section."""

    resource_type: Literal["thread", "section"]
    resource_id: str
    holder_id: str
    holder_name: str
    acquired_at: str
    expires_at: str
    requested_by: str | None = None
    requested_by_name: str | None = None


class LockChanged(Frozen):
    """The lock of a thread (thread's log) or of a document's section (project's log) changed, or was requested."""

    thread_id: str = ""
    section_id: str = ""
    document_id: str = ""
    lock: LockData | None

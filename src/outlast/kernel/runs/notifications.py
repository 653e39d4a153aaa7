"""News of a thread or a sandbox that its subject (a screen, a page, a document) shows too."""

from outlast.base.events import ContextLost, SandboxStateData, ThreadData
from outlast.db.database import Tx
from outlast.kernel.sandboxes.store import announce_to_project
from outlast.kernel.subjects import registry
from outlast.kernel.threads import store as threads


def announce_thread(tx: Tx, thread_id: str) -> ThreadData:
    """Tell how a thread is now, and so how the subject is whose it is. Returns the thread."""
    data = threads.announce(tx, thread_id)
    anchor = data.anchor or {}
    registry.announce_of_thread(tx, anchor.get("type"), thread_id)
    return data


def announce_sandbox(tx: Tx, project_id: str, event: str, data: SandboxStateData | ContextLost) -> None:
    """Tell the project of a sandbox, and of the subject whose it is from now on."""
    announce_to_project(tx, project_id, event, data)
    if isinstance(data, SandboxStateData) and data.state == "creating":
        registry.announce_of_workspace(tx, data.workspace_id)

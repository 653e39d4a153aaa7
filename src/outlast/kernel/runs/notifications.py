"""Telling followers of what a thread's runs and its sandbox do, where a screen, a page or a document shows it too.

Threads, sandboxes, screens, pages and documents do not know each other; the changes that concern two of them are told
from here.
"""

from outlast.apps.documents import store as documents
from outlast.apps.pages import store as pages
from outlast.apps.screens import store as screens
from outlast.base.events import ContextLost, SandboxStateData, ThreadData
from outlast.db.database import Tx
from outlast.kernel.sandboxes.store import announce_to_project
from outlast.kernel.threads import store as threads


def announce_thread(tx: Tx, thread_id: str) -> ThreadData:
    """Tell how a thread is now, and so how the screen, page or document is whose it is. Returns the thread."""
    data = threads.announce(tx, thread_id)
    about = None if data.anchor is None else data.anchor.get("type")
    if about == "screen":
        screens.announce_of_thread(tx, thread_id)
    elif about == "page":
        pages.announce_of_thread(tx, thread_id)
    elif about == "document":
        documents.announce_of_thread(tx, thread_id)
    return data


def announce_sandbox(tx: Tx, project_id: str, event: str, data: SandboxStateData | ContextLost) -> None:
    """Tell the project of a sandbox, and of the screen or page whose it is from now on."""
    announce_to_project(tx, project_id, event, data)
    if isinstance(data, SandboxStateData) and data.state == "creating":
        screens.announce_of_workspace(tx, data.workspace_id)
        pages.announce_of_workspace(tx, data.workspace_id)

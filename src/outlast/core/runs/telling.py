"""Telling followers of what a thread's runs and its sandbox do, where a screen on the canvas shows it too.

Threads, sandboxes and screens do not know each other; the changes that concern two of them are told from here.
"""

from outlast.base.events import ContextLost, SandboxStateData, ThreadData
from outlast.core.sandboxes.store import announce_to_project
from outlast.core.screens import store as screens
from outlast.core.threads import store as threads
from outlast.db.database import Tx


def announce_thread(tx: Tx, thread_id: str) -> ThreadData:
    """Tell how a thread is now, and so how the screen is that it builds. Returns the thread."""
    data = threads.announce(tx, thread_id)
    if data.anchor is not None and data.anchor.get("type") == "screen":
        screens.announce_of_thread(tx, thread_id)
    return data


def announce_sandbox(tx: Tx, project_id: str, event: str, data: SandboxStateData | ContextLost) -> None:
    """Tell the project of a sandbox, and of the screen whose it is from now on."""
    announce_to_project(tx, project_id, event, data)
    if isinstance(data, SandboxStateData) and data.state == "creating":
        screens.announce_of_workspace(tx, data.workspace_id)

"""The work before a screen's agent begins: load its screen, its sandbox, lost context, and messages.

Each is a named step of the workflow. The id of a new sandbox is in its row, and so on the screen, before the sandbox is
started, so the next run finds it whatever happens.
"""

from datetime import datetime
from typing import Final

import sqlalchemy as sa

from outlast.apps.screens.agent.conversation import format_messages_for_agent, records_of
from outlast.apps.screens.shapes import ScreenData
from outlast.apps.screens.store import screen_data, screen_of_thread
from outlast.base.errors import NotFound, OutlastError
from outlast.db.database import Database, Tx
from outlast.kernel.agents.context import StageContext
from outlast.kernel.agents.hooks import StageResult
from outlast.kernel.agents.prompt import NOT_READABLE
from outlast.kernel.agents.workspaces import OpenWorkspace, Workspaces
from outlast.kernel.runs.history import exchanges_before
from outlast.kernel.runs.tables import runs
from outlast.kernel.runs.transcript import Run
from outlast.kernel.sandboxes.tables import sandboxes

NO_SCREEN: Final = "The screen of this thread was deleted, so there is nothing to build on."


def should_create_new_sandbox(sandbox_id: str | None) -> bool:
    """True if a screen with this sandbox (None or empty without one) needs a new one; else the existing one is
    connected to, which wakes it."""
    return not sandbox_id


async def prepare(context: StageContext, db: Database, workspaces: Workspaces, context_messages: int) -> StageResult:
    """Raises `NotFound` without a screen, `SandboxUnavailable` without a sandbox. Repeatable; a cancelled call leaves
    the sandbox that it created."""
    screen = await _load_screen(context, db)
    opened = await _open_sandbox(context, workspaces, screen)
    await _tell_context_lost(context, db, opened)
    await _load_messages(context, db, context_messages)
    return StageResult(facts={"screen_id": screen.id, "sandbox_id": opened.sandbox.sandbox_id})


async def _load_screen(context: StageContext, db: Database) -> ScreenData:
    await context.tell("load_screen", "started")
    screen = await db.read(_screen, context.this_run.thread_id)
    if screen is None:
        await context.tell("load_screen", "failed", NO_SCREEN)
        raise NotFound(NO_SCREEN, hint="Create a new screen on the canvas.", thread_id=context.this_run.thread_id)
    await context.tell("load_screen", "done", screen.title)
    return screen


async def _open_sandbox(context: StageContext, workspaces: Workspaces, screen: ScreenData) -> OpenWorkspace:
    is_new = should_create_new_sandbox(screen.sandbox_id)
    await context.tell(
        "open_sandbox", "started", "creating a sandbox" if is_new else f"connecting to {screen.sandbox_id}"
    )
    try:
        opened = await workspaces.open(context)
    except OutlastError as error:
        await context.tell("open_sandbox", "failed", error.message)
        raise
    same = opened.sandbox.sandbox_id == screen.sandbox_id
    await context.tell("open_sandbox", "done", f"{'connected to' if same else 'made'} {opened.sandbox.sandbox_id}")
    return opened


async def _tell_context_lost(context: StageContext, db: Database, opened: OpenWorkspace) -> None:
    sandbox_id = opened.sandbox.sandbox_id
    lost = await db.read(lost_since_last_run, context.this_run, opened.workspace_id, sandbox_id)
    if lost is None:
        return
    await context.tell("tell_context_lost", "started")
    await context.lost(opened.workspace_id, lost)
    await context.tell("tell_context_lost", "done", f"{lost} had ended; its files are in {sandbox_id}")


async def _load_messages(context: StageContext, db: Database, most: int) -> None:
    """Count the messages that each turn sends to the model. If they cannot be read, the run continues without them."""
    await context.tell("load_messages", "started")
    try:
        count = await db.read(_count_messages, context.this_run, most)
    except NOT_READABLE:
        await context.tell("load_messages", "failed", "earlier messages could not be read; continuing without them")
        return
    await context.tell("load_messages", "done", f"{count} message{'' if count == 1 else 's'}")


def _screen(tx: Tx, thread_id: str) -> ScreenData | None:
    row = screen_of_thread(tx, thread_id)
    return None if row is None else screen_data(tx, row.id)


def _count_messages(tx: Tx, run: Run, most: int) -> int:
    return len(format_messages_for_agent(records_of(exchanges_before(tx, run, most))))


def lost_since_last_run(tx: Tx, run: Run, workspace_id: str, sandbox_id: str) -> str | None:
    """The sandbox that this one replaces, if it was created after the thread's last run had ended; None if the agent
    finds everything unchanged, or was never there before."""
    ended = sa.select(sa.func.max(runs.c.ended_at)).where(runs.c.thread_id == run.thread_id, runs.c.id != run.id)
    since: datetime | None = tx.execute(ended).scalar()
    created_at: datetime | None = tx.value(sandboxes.c.created_at, {"id": sandbox_id})
    if since is None or created_at is None or created_at < since:
        return None
    before = sa.select(sandboxes.c.id).where(
        sandboxes.c.workspace_id == workspace_id,
        sandboxes.c.id != sandbox_id,
        sandboxes.c.ref != "",  # a sandbox that was never ready loses nothing
        sandboxes.c.created_at <= since,
    )
    newest = before.order_by(sandboxes.c.created_at.desc(), sandboxes.c.id.desc()).limit(1)
    found: str | None = tx.execute(newest).scalar()
    return found

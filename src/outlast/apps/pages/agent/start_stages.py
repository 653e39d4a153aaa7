"""The work before a page's agent begins: load its page, its existing modules, recent events, and earlier requests that
resemble this one. No sandbox is created for it.

The result is stored in the run's journal, so that every turn gets the same prompt.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final, Literal

import sqlalchemy as sa

from outlast.apps.pages.agent.context import Found
from outlast.apps.pages.agent.modules import module_list
from outlast.apps.pages.agent.recent_changes import Lately, lately
from outlast.apps.pages.store import page_of_thread
from outlast.base.errors import NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.agents.context import StageContext
from outlast.kernel.agents.hooks import StageResult
from outlast.kernel.library.modules import UsableModules
from outlast.kernel.library.search import Searcher
from outlast.kernel.library.summary_line import asked_text
from outlast.kernel.runs.tables import effects
from outlast.kernel.runs.transcript import Run
from outlast.kernel.threads.tables import messages

NO_PAGE: Final = "The page of this thread was deleted, so there is nothing to change."

_LAST_RESULT: Final = (
    sa.select(effects.c.result)
    .where(
        effects.c.run_id == sa.bindparam("run"),
        effects.c.kind == sa.bindparam("kind"),
        effects.c.status == "finished",
        ~effects.c.inherited,
    )
    .order_by(effects.c.ordinal.desc())
    .limit(1)
)


async def prepare(
    context: StageContext, db: Database, modules: UsableModules, searcher: Searcher, most_recalled: int
) -> StageResult:
    """Raises `NotFound` without a page. Repeatable; reads only, except that modules without files are
    forgotten."""
    run = context.this_run
    await context.tell("load_page", "started")
    page = await db.read(page_of_thread, run.thread_id)
    if page is None:
        await context.tell("load_page", "failed", NO_PAGE)
        raise NotFound(NO_PAGE, hint="Create a new page.", thread_id=run.thread_id)
    usable = await modules.usable(page.workspace_id, run.started_by)
    recent, asked = await db.read(_history, run, page.id)
    without = recent.run_ids | {run.id}
    found = await searcher.recall(run, asked, thread_id=run.thread_id, without=without, limit=most_recalled)
    recalled = [one.summary for one in found]
    told = Found(page.id, page.version, module_list(usable), recent.lines, recalled)
    await context.tell("load_page", "done", _detail(page.title, told, len(usable)))
    return StageResult(facts=asdict(told))


def last_result(tx: Tx, run_id: str, kind: Literal["prepare", "check"]) -> Mapping[str, Any]:
    """The last result of this stage of the run (`StageResult`, as stored in the journal); empty if there is none."""
    return tx.execute(_LAST_RESULT, {"run": run_id, "kind": kind}).scalar() or {}


def found_by(tx: Tx, run: Run) -> Found | None:
    """The state when the run began, or None before that."""
    facts = last_result(tx, run.id, "prepare").get("facts")
    return Found(**facts) if facts else None


def _history(tx: Tx, run: Run, page_id: str) -> tuple[Lately, str]:
    parts = tx.value(messages.c.parts, {"id": run.message_id})
    return lately(tx, run, page_id), asked_text(parts or ())


def _detail(title: str, found: Found, modules: int) -> str:
    counted = (
        (modules, "module", "modules"),
        (len(found.recent), "recent change", "recent changes"),
        (len(found.recalled), "memory", "memories"),
    )
    words = [f"{count} {one if count == 1 else many}" for count, one, many in counted if count]
    return f"{title}: {', '.join([f'version {found.version}', *words])}"

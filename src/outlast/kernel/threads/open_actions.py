"""Opening a thread's page: everything of one moment, and the cursor to follow from."""

from collections.abc import Sequence
from dataclasses import dataclass

from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.mentions.actions import see_thread
from outlast.kernel.mentions.store import anything_waits
from outlast.kernel.projects.shapes import MemberData
from outlast.kernel.runs import views
from outlast.kernel.runs.shapes import RunSummaryAnswer
from outlast.kernel.runs.views import RunDetails
from outlast.kernel.services import Services
from outlast.kernel.streams import follow
from outlast.kernel.subjects import registry as subjects
from outlast.kernel.subjects.about import About
from outlast.kernel.threads.actions import ThreadView, view_thread

QUEUED_SHOWN = 50


@dataclass(frozen=True, slots=True)
class OpenedThread:
    """A thread as its page shows it. `queued` are the runs that wait behind the active one, the next one first; `about`
    says what it hangs on in a document."""

    view: ThreadView
    cursor: str
    active_run: tuple[RunSummaryAnswer, RunDetails] | None
    queued: list[RunSummaryAnswer]
    watching: list[MemberData]
    about: About | None = None


async def open_thread(services: Services, actor: Actor, thread_id: str) -> OpenedThread:
    """One thread with its active run. Counts as following for a while, and what names the actor there as seen. Raises
    `NotFound`."""
    named = False

    def run(tx: Tx) -> OpenedThread:
        nonlocal named
        view = view_thread(tx, actor, thread_id)
        active = view.thread.active_run_id
        shown = (
            (views.summary_of(tx, active), views.details_of(tx, active, services.settings.sandbox)) if active else None
        )
        waiting, _ = views.list_summaries(
            tx, [view.thread.project_id], thread_id=thread_id, status="queued", limit=QUEUED_SHOWN
        )
        queued = in_turn([run for run in reversed(waiting) if run.id != active])
        watching = list(services.presence.present(thread_id).watching)
        named = anything_waits(tx, actor.user_id, thread_id=thread_id)
        hangs_on = subjects.about(tx, view.thread.project_id, view.thread.anchor)
        return OpenedThread(view, follow.thread_cursor(tx, thread_id), shown, queued, watching, hangs_on)

    opened = await services.db.read(run)
    services.watching.touch(thread_id)
    if named:
        await see_thread(services, actor, thread_id)
    return opened


def in_turn(runs: Sequence[RunSummaryAnswer]) -> list[RunSummaryAnswer]:
    """Queued runs with each behind the one that it waits for: who interrupts goes before those who came earlier."""
    left, ordered = list(runs), []
    while left:
        ids = {run.id for run in left}
        following = next((run for run in left if run.after_run_id not in ids), left[0])
        left.remove(following)
        ordered.append(following)
    return ordered

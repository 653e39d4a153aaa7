"""Threads and their forks: the family tree, and forks that begin with a summary."""

from dataclasses import dataclass
from typing import Any, Final

from outlast.base.errors import MalformedInput, UnknownProfile
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.apps import registry
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.limits.rules import checked_line
from outlast.kernel.projects.permissions import require_thread
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs.actions import start_in
from outlast.kernel.services import Services
from outlast.kernel.subjects import registry as subjects
from outlast.kernel.threads import family
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.actions import check_thread_rate
from outlast.kernel.threads.message_parts import Draft
from outlast.kernel.threads.messages import message_in
from outlast.kernel.threads.ports import SUMMARY_AGENT
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.rules import fork_title
from outlast.kernel.threads.shapes import FamilyThreadAnswer, ThreadData

ASKED: Final = "Sum up “{title}” up to this point, so that we can go on from here."


@dataclass(frozen=True, slots=True)
class SummarisedFork:
    """A fork and the run that writes its summary."""

    thread: ThreadData
    run_id: str


async def read_family(services: Services, actor: Actor, thread_id: str) -> list[FamilyThreadAnswer]:
    """The thread with its ancestors and all their forks, parents before children; at most 200."""

    def run(tx: Tx) -> list[FamilyThreadAnswer]:
        require_thread(tx, actor, thread_id, Right.READ)
        return family.family(tx, thread_id)

    return await services.db.read(run)


async def fork_with_summary(
    services: Services,
    actor: Actor,
    thread_id: str,
    message_id: str | None = None,
    title: str | None = None,
    *,
    model: str | None = None,
    key: str | None = None,
) -> SummarisedFork:
    """Make a thread about the same thing that begins with a summary of this one up to a message (None: the last), also
    while somebody else drives it or it is archived (editors). Nothing is copied: the new thread's first run writes the
    summary, and is started like any other, by the actor, who drives the new thread. A repeated `key` gets the first
    answer. Raises `MalformedInput` for the thread of a screen or page, `NotFound` where there is nothing to sum up, and
    as `start_run`; then nothing was made."""
    limit = services.settings.limits.title_chars
    chosen = None if title is None else checked_line("The title", title, limit)

    def produce(tx: Tx, parent: ThreadRow) -> dict[str, Any]:
        _demand_without_files(parent.profile)
        agent = _summary_agent()
        check_thread_rate(tx, services, actor)
        last = message_in(tx, thread_id, message_id)
        fork_id = threads.add_thread(
            tx,
            parent.project_id,
            actor.user_id,
            title=chosen or fork_title(parent.title, limit),
            profile=parent.profile,
            anchor=parent.anchor,
            parent_thread_id=thread_id,
            parent_message_id=last.id,
        )
        draft = Draft(ASKED.format(title=parent.title))
        started = start_in(tx, services, actor, fork_id, draft, model, "reject", profile=agent)
        return {"thread_id": fork_id, "run_id": started["run_id"]}

    def run(tx: Tx) -> SummarisedFork:
        parent = require_thread(tx, actor, thread_id, Right.EDIT)
        asked = request_hash("fork with summary", thread_id, message_id, chosen, model)
        made = remember(tx, actor.user_id, key, asked, lambda: produce(tx, parent))
        return SummarisedFork(threads.thread_data(tx, made["thread_id"]), made["run_id"])

    return await services.db.write(run)


def _summary_agent() -> str:
    agent = registry.implementation(SUMMARY_AGENT)
    if not agent:
        raise UnknownProfile("This server has no agent that sums up conversations.", field="summary")
    return agent


def _demand_without_files(profile: str) -> None:
    one = subjects.subject(profile)
    if one is not None and one.fork is not None:
        raise MalformedInput(
            f"The thread of a {profile} is forked with its {profile}, not with a summary.",
            hint="Fork it without summary: the fork works on a copy of its own.",
            field="summary",
        )

"""Following: permission and cursor checked first, then everything missed, then live.

Each function returns an async iterator of ready server-sent-event chunks, or None if nothing is left (answer 204).
While it is iterated the reader counts as following; `still_may_read` is checked again from time to time.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractContextManager, ExitStack, aclosing

from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.presence.actions import watcher
from outlast.kernel.projects.permissions import require, require_owned, require_thread
from outlast.kernel.projects.rules import Right
from outlast.kernel.projects.shapes import MemberData
from outlast.kernel.projects.store import member_data
from outlast.kernel.runs.tables import runs
from outlast.kernel.services import Services
from outlast.kernel.streams import follow
from outlast.kernel.streams.follow import Page, Push, RunLog


async def follow_run(
    services: Services, actor: Actor, run_id: str, cursor: str, push: Push | None = None
) -> AsyncIterator[bytes] | None:
    """A run's events after an integer cursor. Raises `CursorUnknown`, `NotFound`.

    `push`, if set, sends live chunks straight to the connection; chunks that it refuses are yielded like the rest.
    """
    after = follow.parse_number(cursor)
    # Then nothing else is read: a hundred may reconnect at once. A client further behind gets snapshots.
    is_live = services.hub.covers(run_id, after, follow.FOLD_BEYOND)

    def start(tx: Tx) -> tuple[RunLog, Page | None]:
        run = require_owned(tx, actor, RunLog, runs, "run", run_id, Right.READ)
        follow.check_run_cursor(run, after)
        return run, None if is_live else follow.first_page(tx, run, after)

    run, page = await services.db.read(start)
    if page is None and not is_live:
        return None
    frames = follow.follow_run(services.db, services.hub, run_id, after, push, page)
    return _within(frames, services.hub.watch(run.thread_id))


async def follow_thread(
    services: Services, actor: Actor, thread_id: str, cursor: str, push: Push | None = None
) -> AsyncIterator[bytes]:
    """Events of a thread and its runs after a cursor (empty or "0": from the beginning). Raises `CursorUnknown`; `push`
    as in `follow_run`."""
    position = follow.parse_thread_cursor(cursor)

    def check(tx: Tx) -> None:
        require_thread(tx, actor, thread_id, Right.READ)
        follow.check_thread_cursor(tx, thread_id, position)

    await services.db.read(check)
    seen = services.presence.watching(thread_id, await watcher(services, actor, thread_id))
    frames = follow.follow_thread(services.db, services.hub, thread_id, position, push)
    return _within(frames, seen, services.hub.watch(thread_id))


async def follow_project(services: Services, actor: Actor, project_id: str, cursor: str) -> AsyncIterator[bytes]:
    """A project's events after an integer cursor; other members see the actor there. Raises `CursorUnknown`."""
    after = follow.parse_number(cursor)

    def check(tx: Tx) -> MemberData:
        require(tx, actor, project_id, Right.READ)
        follow.check_project_cursor(tx, project_id, after)
        return member_data(tx, project_id, actor.user_id)

    member = await services.db.read(check)
    frames = follow.follow_project(services.db, services.hub, project_id, after)
    return _within(frames, services.presence.watching(project_id, member))


async def _within(chunks: AsyncIterator[bytes], *shown: AbstractContextManager[None]) -> AsyncGenerator[bytes]:
    """The chunks; while they are iterated, the reader counts as following, and other members see it."""
    with ExitStack() as stack:
        for context in shown:
            stack.enter_context(context)
        async with aclosing(chunks):  # type: ignore[type-var]  # every follower is a generator
            async for chunk in chunks:
                yield chunk

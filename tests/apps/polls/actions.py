"""What people do with polls: one transaction each, permission first."""

from outlast.base.errors import MalformedInput
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.permissions import require
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import in_read, in_write
from outlast.kernel.threads import store as threads
from tests.apps.polls import store
from tests.apps.polls.shapes import PollData
from tests.apps.polls.tables import polls


@in_write
def create_poll(tx: Tx, actor: Actor, project_id: str, title: str) -> PollData:
    """Make a poll without options, and its conversation (editors)."""
    require(tx, actor, project_id, Right.EDIT)
    poll_id = new_id("poll")
    about = {"type": "poll", "id": poll_id}
    thread = threads.add_thread(tx, project_id, actor.user_id, title=title, profile="poll", anchor=about)
    row = {"id": poll_id, "project_id": project_id, "thread_id": thread, "created_at": tx.now}
    tx.insert(polls, **row, title=title, options=[], votes={})
    threads.announce(tx, thread)
    return store.change(tx, poll_id)


@in_read
def list_polls(tx: Tx, actor: Actor, project_id: str) -> list[PollData]:
    """The project's polls, oldest first."""
    require(tx, actor, project_id, Right.READ)
    return store.polls_of_project(tx, project_id)


@in_write
def vote(tx: Tx, actor: Actor, poll_id: str, option: str) -> PollData:
    """Choose one of the options, instead of what the actor chose before. Raises `MalformedInput` for another text."""
    poll = store.poll_of(tx, id=poll_id)
    require(tx, actor, poll.project_id, Right.READ)
    if option not in poll.options:
        raise MalformedInput(f"{option!r} is no option of this poll.")
    return store.change(tx, poll_id, votes={**poll.votes, actor.user_id: option})

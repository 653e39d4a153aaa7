"""What polls declare."""

from typing import Final

from outlast.base.errors import Conflict
from outlast.base.events import EventType
from outlast.kernel.apps.app import App
from outlast.kernel.subjects.subject import Subject
from tests.apps.polls import store
from tests.apps.polls.shapes import PollData
from tests.apps.polls.tables import polls


class ThreadOfPoll(Conflict):
    code = "thread_of_poll"
    default_hint = "Keep the poll, or delete its project."


POLL: Final = Subject(
    noun="poll",
    table=polls,
    thread_does="belongs to",
    thread_error=ThreadOfPoll,
    announce=lambda tx, poll_id, _by: store.change(tx, poll_id),
)
APP: Final = App(
    name="polls",
    tables=[polls],
    prefixes={"poll": "pol"},
    subjects=[POLL],
    events=[EventType("PollChangedEvent", PollData, "poll.changed")],
    server="tests.apps.polls.agent",
    tools=["offer_options"],
    inbox=[store.waiting],
    routes=["tests.apps.polls.routes"],
)

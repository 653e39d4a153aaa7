"""What goes over the wire."""

from outlast.base.events import Frozen


class PollData(Frozen):
    """A poll as it is now. `votes`: the option of each user, by user id."""

    id: str
    project_id: str
    thread_id: str
    title: str
    options: list[str]
    votes: dict[str, str]

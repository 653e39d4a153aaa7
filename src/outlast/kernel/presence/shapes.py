"""Watching and typing."""

from outlast.base.events import Frozen
from outlast.kernel.projects.shapes import MemberData


class EphemeralPresence(Frozen):
    """Watchers and typing members. A frame without id, `event: presence`; it is not logged."""

    thread_id: str = ""
    project_id: str = ""
    document_id: str = ""
    places: dict[str, str] = {}  # noqa: RUF012 - pydantic copies it
    watching: list[MemberData]
    typing: list[str]

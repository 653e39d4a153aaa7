"""Shapes of memories."""

from typing import Annotated, Literal

from pydantic import StringConstraints

from outlast.base.events import Frozen
from outlast.kernel.http.shapes import Answer, Request
from outlast.kernel.library.memories import MemoryScope

MemoryText = Annotated[str, StringConstraints(max_length=10_000)]  # the exact limit has its own error


class MemoryData(Frozen):
    """A memory: one line that later conversations can use."""

    id: str
    project_id: str
    scope: MemoryScope
    text: str
    thread_id: str | None
    thread_title: str | None
    created_by: str | None
    created_by_name: str | None
    created_at: str
    updated_at: str | None


class MemoryChanged(Frozen):
    """A memory of the project was added, edited or deleted (project log)."""

    memory_id: str


class MemoryRequest(Request):
    text: MemoryText
    scope: Literal["project", "person"] = "person"


class MemoryTextRequest(Request):
    text: MemoryText


class MemorySwitches(Answer):
    """Where memory is on. A run uses it only if all three are on: the server, its project, and the user who started
    it."""

    server: bool
    project: bool
    person: bool


class MemorySwitchesRequest(Request):
    project: bool | None = None
    person: bool | None = None

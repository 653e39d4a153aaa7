"""Shapes of incoming webhooks on the wire."""

from typing import Annotated, Literal

from pydantic import StringConstraints

from outlast.kernel.http.shapes import Answer, Name, Request

Template = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
HookThread = Literal["new", "same"]


class HookRequest(Request):
    title: Name
    template: Template
    profile: str | None = None
    thread: HookThread = "new"
    enabled: bool = True


class HookChanges(Request):
    """What is left out stays unchanged."""

    title: Name | None = None
    template: Template | None = None
    profile: str | None = None
    thread: HookThread | None = None
    enabled: bool | None = None


class HookAnswer(Answer):
    """An address at which another program starts runs, without its secret."""

    id: str
    project_id: str
    title: str
    path: str
    enabled: bool
    profile: str
    thread: HookThread
    template: str
    created_by: str
    created_by_name: str
    created_at: str


class NewHookAnswer(HookAnswer):
    """A hook with its secret, which no other answer has."""

    secret: str


class HookCallAnswer(Answer):
    """A call with a valid secret, and what became of it."""

    id: str
    sender_id: str
    run_id: str | None
    thread_id: str | None
    code: str | None
    reason: str | None
    created_at: str


class HookStartedAnswer(Answer):
    """The run that a call started; the same for a call that is repeated."""

    run_id: str
    thread_id: str

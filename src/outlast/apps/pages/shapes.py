"""Shapes of pages, actions on them, their history, links and code."""

from typing import Any, Literal

from pydantic import Field

from outlast.base.events import Frozen
from outlast.kernel.accounts.secrets import Days
from outlast.kernel.http.shapes import Answer, Request

PatchOp = Literal[
    "text",  # the element's content becomes this text
    "html",  # the element's content becomes this HTML
    "replace",  # the element itself becomes this HTML
    "append",  # HTML after the element's last child
    "prepend",  # HTML before its first child
    "before",  # HTML before the element
    "after",  # HTML after the element
    "remove",  # the element is removed
    "attributes",  # set and remove attributes
    "classes",  # add and remove class names
    "move",  # the element moves: `place` of `to`
]
Place = Literal["before", "after", "prepend", "append"]
HtmlReason = Literal[
    "created",
    "full",  # the agent wrote it whole
    "reset",  # an interrupted step was undone
    "undo",
    "restore",  # a person chose an earlier version
    "copy",
]
VersionKind = Literal["created", "full", "patches", "undo", "restore", "copy"]
ActionState = Literal[
    "waiting",  # for the next run
    "taken",  # a run works on it
    "done",
    "failed",  # that run ended without doing it
    "dropped",  # a person cancelled it
]


class Patch(Frozen):
    """One change to a page. HTML is sanitised and written as browsers do, so that every client builds the same tree."""

    op: PatchOp
    at: str
    text: str | None = None
    html: str | None = None
    set: dict[str, str] | None = None
    remove: list[str] | None = None
    add: list[str] | None = None
    to: str | None = None
    place: Place | None = None


class PageData(Frozen):
    """A page. Lists and events leave `html` empty."""

    id: str
    project_id: str
    thread_id: str
    workspace_id: str
    title: str
    html: str = ""
    version: int
    state: Literal["new", "working", "waiting", "ready", "problems", "failed"]
    active_run_id: str | None
    sandbox_id: str | None
    created_by: str
    created_at: str
    updated_at: str


class PageChanged(Frozen):
    """A page as it is now (project log). `by` is the user who changed it (None: a run, or the server itself)."""

    page: PageData
    by: str | None = None


class PageDeleted(Frozen):
    """A page was deleted with its thread and files (project log)."""

    page_id: str


class PagePatched(Frozen):
    """Patches that turn version `base_version` into `version`. In the run's log."""

    page_id: str
    base_version: int
    version: int
    patches: list[Patch]
    run_id: str | None = None
    step: int | None = None


class PageHtml(Frozen):
    """The whole page at `version`, which may be lower than before. In the run's log, else in the thread's."""

    page_id: str
    version: int
    html: str
    reason: HtmlReason
    run_id: str | None = None
    step: int | None = None
    by: str | None = None


class PageAction(Frozen):
    """An action of a person on a page."""

    id: str
    page_id: str
    name: str
    data: dict[str, Any]
    state: ActionState
    by: str
    by_name: str
    run_id: str | None
    created_at: str


class PageActed(Frozen):
    """An action was queued or changed its state. In the thread's log."""

    action: PageAction


class PageVersion(Frozen):
    """One version in a page's history."""

    page_id: str
    version: int
    base_version: int
    kind: VersionKind
    summary: str
    patches: int
    run_id: str | None
    by: str | None
    created_at: str


class PageRequest(Request):
    """A new page; empty without `html`."""

    title: str | None = None
    html: str = ""


class PagePatch(Request):
    """The new values; properties that you leave out stay as they are."""

    title: str


class ActionRequest(Request):
    """An action on a page: the name of a `data-action` and its values, at most 16 kB."""

    name: str = Field(min_length=1, max_length=64)
    data: dict[str, Any] = Field(default_factory=dict)
    model: str | None = Field(
        None, description="Model of a run that the action starts (default: that of the page's last run)."
    )


class ActionAnswer(Answer):
    """An action that the server accepted."""

    action_id: str
    state: ActionState
    run_id: str
    thread_id: str


class RestoreRequest(Request):
    """The version of the page to restore."""

    version: int = Field(ge=0, le=2**31 - 1)


class VersionAnswer(PageVersion):
    """A version with its page."""

    html: str


class VersionsAnswer(Answer):
    """Versions, newest first; `next` is the `before` of older ones."""

    items: list[PageVersion]
    next: int | None


class LinkRequest(Request):
    """A new link to a page."""

    name: str = ""
    expires_in_days: Days | None = None


class LinkAnswer(Answer):
    """A valid link to a page. Its secret is not stored."""

    id: str
    page_id: str
    name: str
    created_by: str
    created_at: str
    expires_at: str | None


class NewLinkAnswer(LinkAnswer):
    """A new link. `url` holds its secret and is shown only here."""

    url: str
    frame: str


class CodeAnswer(Answer):
    """Code that the page's agent ran, a search, or files that it wrote."""

    run_id: str
    message_id: str | None
    part_id: str
    tool: str
    description: str
    code: str
    language: str
    status: str
    result: str | None
    duration_s: float | None
    at: str

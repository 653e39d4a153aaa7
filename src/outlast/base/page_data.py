"""What events and the API carry of pages: live HTML documents kept on the server and changed by patches."""

from typing import Any, Literal

from outlast.base.parts import Frozen

PatchOp = Literal[
    "text",  # the element's content becomes this text
    "html",  # the element's content becomes this HTML
    "replace",  # the element itself becomes this HTML
    "append",  # HTML after the element's last child
    "prepend",  # HTML before its first child
    "before",  # HTML before the element
    "after",  # HTML after the element
    "remove",  # the element goes
    "attributes",  # set and remove attributes
    "classes",  # add and remove class names
    "move",  # the element goes elsewhere: `place` of `to`
]
Place = Literal["before", "after", "prepend", "append"]
HtmlReason = Literal[
    "created",
    "full",  # the agent wrote it whole
    "reset",  # a cut step was taken back
    "undo",
    "restore",  # a person chose an earlier version
    "copy",
]
VersionKind = Literal["created", "full", "patches", "undo", "restore", "copy"]
ActionState = Literal[
    "waiting",  # for the next request
    "taken",  # a run works on it
    "done",
    "failed",  # that run ended without doing it
    "dropped",  # a person took it back
]


class Patch(Frozen):
    """One change of a page. HTML is sanitised and written as browsers do, so that every client builds the same tree."""

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
    """A page as it is now (project log). `by` is the user who did it (None: a run, or the server itself)."""

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


class PageStats(Frozen):
    """What a run made of the page, and what it cost."""

    page_id: str
    version: int
    run_id: str
    patches: int
    replaced: int
    refused: int
    elements: int
    html_bytes: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cached_share: float | None = None
    told: dict[str, float | str] = {}  # noqa: RUF012 - pydantic copies it


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


class ModuleData(Frozen):
    """Code that an agent saved for reuse: `session` modules belong to the thread, `user` modules to their publisher."""

    id: str
    project_id: str | None
    workspace_id: str | None
    page_id: str | None
    scope: Literal["session", "user"]
    path: str
    description: str
    exports: list[str]
    usage: str
    verified: bool
    published_by: str | None = None
    created_at: str
    updated_at: str


class ModulesSaved(Frozen):
    """Modules that a run saved; search finds them now."""

    run_id: str
    workspace_id: str
    modules: list[ModuleData]

"""Shapes of pages, what people do on them, their history, links and code."""

from typing import Any

from pydantic import Field

from outlast.base.page_data import ActionState, PageVersion
from outlast.kernel.http.shapes import Answer, Days, Request


class PageRequest(Request):
    """A new page; empty without `html`."""

    title: str | None = None
    html: str = ""


class PagePatch(Request):
    """What to change; properties that you leave out stay as they are."""

    title: str


class ActionRequest(Request):
    """An action on a page: the name of a `data-action` and its values, at most 16 kB."""

    name: str = Field(min_length=1, max_length=64)
    data: dict[str, Any] = Field(default_factory=dict)
    model: str | None = Field(None, description="Of a run that it starts; without: that of the page's last run.")


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

"""Shapes of pages, what people do on them, their history, links and code."""

from typing import Any

from pydantic import Field

from outlast.base.page_data import ActionState, PageVersion
from outlast.kernel.http.shapes import Answer, Days, Request


class PageRequest(Request):
    """What a new page is to be; empty without `html`, which is sanitised."""

    title: str | None = None
    html: str = ""


class PagePatch(Request):
    """What is to be different."""

    title: str


class ActionRequest(Request):
    """What somebody did on a page: the name of a `data-action`, and the values that came with it, at most 16 kB."""

    name: str = Field(min_length=1, max_length=64)
    data: dict[str, Any] = Field(default_factory=dict)
    model: str | None = Field(
        None, description="Of a run that it starts; without: that of the page's last run."
    )


class ActionAnswer(Answer):
    """`taken`: the run's turn has come; `waiting`: it is queued behind another."""

    action_id: str
    state: ActionState
    run_id: str
    thread_id: str


class RestoreRequest(Request):
    """Which version the page is to be again."""

    version: int = Field(ge=0, le=2**31 - 1)


class VersionAnswer(PageVersion):
    """A version with the page as it was."""

    html: str


class VersionsAnswer(Answer):
    """Versions, newest first; `next` is the `before` of older ones."""

    items: list[PageVersion]
    next: int | None


class LinkRequest(Request):
    """A name for those who manage links, and how long it is good (without: until it is revoked)."""

    name: str = ""
    expires_in_days: Days | None = None


class LinkAnswer(Answer):
    """A valid link; its secret is not known any more."""

    id: str
    page_id: str
    name: str
    created_by: str
    created_at: str
    expires_at: str | None


class NewLinkAnswer(LinkAnswer):
    """A link just made: `url` holds its secret and is shown this once; `frame` is HTML for another site."""

    url: str
    frame: str


class CodeAnswer(Answer):
    """A call of the page's agent. `code`: what ran, the query of a search, or the paths of written files."""

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

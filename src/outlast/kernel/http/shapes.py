"""Common shapes: the two bases, pages, the bounds of common fields, and shapes made from rows."""

from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, StringConstraints

from outlast.base.events import Frozen

Item = TypeVar("Item")
Shape = TypeVar("Shape", bound=BaseModel)

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class Request(BaseModel):
    """A request's body: frozen, without unknown fields."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True, str_max_length=2_000_000)


class Answer(Frozen):
    """An answer's body."""


class Page(Answer, Generic[Item]):
    """A list: the items, and the cursor to pass as `before` (or `after`) for the next page; null on the last page."""

    items: list[Item]
    next: str | None = None


class Problem(Answer):
    """The answer of every error (RFC 9457), as application/problem+json."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    hint: str
    fields: dict[str, object]
    request_id: str
    retry_after_s: float | None = None

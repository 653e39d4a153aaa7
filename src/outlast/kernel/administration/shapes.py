"""Shapes of the administration routes."""

from pydantic import Field

from outlast.kernel.http.shapes import Answer, Request


class UserSummaryAnswer(Answer):
    """A user. `balance` and `allowance` are null if unlimited."""

    id: str
    name: str
    plan: str
    is_admin: bool
    is_local: bool
    balance: int | None
    allowance: int | None
    created_at: str


class UsersAnswer(Answer):
    """A page of users, and the names of all plans."""

    items: list[UserSummaryAnswer]
    next: str | None
    plans: list[str]


class UserChangeRequest(Request):
    """Changes of a user; properties that you leave out are unchanged."""

    plan: str | None = None
    is_admin: bool | None = None


class GrantRequest(Request):
    """Credits for this month, on top of the plan's."""

    credits: int = Field(ge=1)


class SetAsideAnswer(Answer):
    """Work that failed repeatedly and is no longer retried."""

    kind: str
    id: str
    title: str
    since: str
    tries: int
    code: str
    reason: str
    deletable: bool

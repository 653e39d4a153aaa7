"""Projects, members, invitations."""

from typing import Literal

from outlast.base.events import Frozen
from outlast.kernel.accounts.secrets import Days
from outlast.kernel.accounts.shapes import UserAnswer
from outlast.kernel.http.shapes import Answer, Name, Request


class MemberData(Frozen):
    user_id: str
    name: str
    role: Literal["owner", "editor", "viewer"]


class MemberChanged(Frozen):
    """A member joined, or the role changed."""

    member: MemberData


class MemberRemoved(Frozen):
    user_id: str


class ProjectUpdated(Frozen):
    project_id: str
    name: str


RoleName = Literal["owner", "editor", "viewer"]


class ProjectRequest(Request):
    name: Name


class ProjectAnswer(Answer):
    id: str
    name: str
    role: RoleName
    created_at: str
    updated_at: str
    thread_count: int
    cursor: str


class MemberAnswer(Answer):
    """A member of the project. Only owners see `plan` and `balance`."""

    user_id: str
    name: str
    role: RoleName
    created_at: str
    plan: str | None
    balance: int | None


class RoleRequest(Request):
    role: RoleName


class InvitationRequest(Request):
    role: RoleName
    name: str = ""
    expires_in_days: Days | None = None


class InvitationAnswer(Answer):
    id: str
    project_id: str
    role: RoleName
    name: str
    created_at: str
    expires_at: str


class NewInvitationAnswer(Answer):
    """An invitation. `token` and `url` are shown only here."""

    id: str
    role: RoleName
    url: str
    token: str
    expires_at: str


class AcceptRequest(Request):
    token: str
    name: str = ""


class AcceptAnswer(Answer):
    """The project you joined. `token` is an API token for a new user; it is shown only here."""

    project_id: str
    user: UserAnswer
    token: str | None = None

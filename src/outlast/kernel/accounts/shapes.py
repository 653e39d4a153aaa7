"""The signed-in user, tokens, sessions, and the capabilities of this server."""

from outlast.kernel.accounts.secrets import Days
from outlast.kernel.http.shapes import Answer, Name, Request


class UserAnswer(Answer):
    id: str
    name: str
    plan: str


class SignedInUserAnswer(UserAnswer):
    """The user who is signed in."""

    is_admin: bool


class LimitsAnswer(Answer):
    message_bytes: int
    image_bytes: int
    images_per_message: int
    attachment_bytes: int
    files_per_message: int


class ClocksAnswer(Answer):
    approval_pause_after_s: float
    paused_kill_after_s: float
    abandoned_after_s: float
    lock_ttl_s: float


class MeAnswer(Answer):
    user: SignedInUserAnswer
    signed_in: bool
    local_mode: bool
    default_project_id: str | None
    version: str
    pages_domain: str
    sandboxes: bool
    embedder: bool
    limits: LimitsAnswer
    clocks: ClocksAnswer


class SessionRequest(Request):
    """Exchange an API token for a browser's cookie session."""

    token: str


class TokenRequest(Request):
    name: Name
    expires_in_days: Days | None = None


class TokenAnswer(Answer):
    id: str
    name: str
    prefix: str
    created_at: str
    last_used_at: str | None
    expires_at: str | None


class NewTokenAnswer(TokenAnswer):
    """A new API token. `token` is shown only here."""

    token: str

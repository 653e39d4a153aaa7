"""The user on whose behalf an action runs."""

from typing import Final, Literal

from outlast.base.records import dataclass

ACCESS_BELL: Final = "access"  # notified when a token, session or membership ends: open streams check rights again
Via = Literal["local", "token", "session"]


@dataclass(frozen=True, slots=True)
class Actor:
    """A signed-in user. `via`: the way of signing in; `token_id`: the token (also the one that a session was exchanged
    for); `session_hash`: the hash under which the session is stored."""

    user_id: str
    name: str
    via: Via
    token_id: str | None = None
    session_hash: str | None = None

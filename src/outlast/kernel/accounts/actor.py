"""The user on whose behalf an action runs."""

from dataclasses import dataclass
from typing import Final, Literal

ACCESS_BELL: Final = "access"  # rings when a token, session or membership ends: open streams check rights again
Via = Literal["local", "token", "session"]


@dataclass(frozen=True, slots=True)
class Actor:
    """A signed-in user: `via` says how, `token_id` which token (also the one a session was exchanged for),
    `session_hash` which session, by the hash it is stored under."""

    user_id: str
    name: str
    via: Via
    token_id: str | None = None
    session_hash: str | None = None

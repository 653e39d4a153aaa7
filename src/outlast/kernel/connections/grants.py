"""What is kept of a sign-in and of its tokens: JSON, sealed in the rows. Never shown."""

from dataclasses import asdict, field
from datetime import datetime
from typing import TypeVar

import orjson

from outlast.base.records import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """This server as an authorization server knows it. `method`: how it proves itself at the token endpoint."""

    client_id: str
    secret: str | None = field(default=None, repr=False)
    method: str = "none"


@dataclass(frozen=True, slots=True)
class Party:
    """Where tokens for a resource come from, and as which client. `service`: the name of the connection of the
    configuration that they are for; empty for an MCP server, whose `resource` they name."""

    issuer: str
    resource: str
    token_endpoint: str
    revocation_endpoint: str | None
    client_id: str
    method: str
    secret: str | None = field(default=None, repr=False)
    service: str = ""


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """A sign-in that waits for its code. `states_issuer`: the answer must name the issuer (RFC 9207); `verifier`: of
    PKCE, empty without."""

    party: Party
    redirect_uri: str
    states_issuer: bool
    verifier: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Grant:
    """Tokens of a person."""

    party: Party
    access: str = field(repr=False)
    refresh: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Issued:
    """A grant, and when its access token ends (None: not known)."""

    grant: Grant
    expires_at: datetime | None


def dump(kept: object) -> str:
    """One of the above as JSON."""
    return orjson.dumps(asdict(kept)).decode()  # type: ignore[call-overload]  # a dataclass


def load(kind: type[T], text: str) -> T:
    """The dataclass that `dump` wrote."""
    found = orjson.loads(text)
    if "party" in found:
        found["party"] = Party(**found["party"])
    return kind(**found)

"""Secrets that are shown once and stored as a hash. 32 random bytes need no slow hash: they cannot be guessed."""

import hashlib
import secrets
from datetime import timedelta
from typing import Annotated, Final

from pydantic import Field

from outlast.base.errors import MalformedInput

TOKEN_PREFIX: Final = "ol_"
INVITATION_PREFIX: Final = "oli_"
SHOWN_PREFIX_CHARS: Final = 9
MAX_EXPIRY_DAYS: Final = 3650
Days = Annotated[float, Field(gt=0, le=MAX_EXPIRY_DAYS, allow_inf_nan=False)]


def new_secret(prefix: str = "") -> str:
    """The prefix and 32 random bytes in 43 characters that are safe in URLs and headers."""
    return prefix + secrets.token_urlsafe(32)


def hash_of(secret: str) -> str:
    """SHA-256 as 64 hex digits, for storage and look-up."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def days(field: str, value: float | None) -> timedelta | None:
    """A time span in days. Raises `MalformedInput` unless it is above 0 and at most ten years."""
    if value is None:
        return None
    if not 0 < value <= MAX_EXPIRY_DAYS:
        raise MalformedInput(f"{field} must be a number of days above 0, at most {MAX_EXPIRY_DAYS}.", field=field)
    return timedelta(days=value)

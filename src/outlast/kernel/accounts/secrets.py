"""Secrets that are shown once and stored as a hash. 32 random bytes need no slow hash: there is nothing to guess."""

import base64
import hashlib
import os
from typing import Final

TOKEN_PREFIX: Final = "ol_"
INVITATION_PREFIX: Final = "oli_"
SHOWN_PREFIX_CHARS: Final = 9


def new_secret(prefix: str = "") -> str:
    """The prefix and 32 random bytes in 43 characters that are safe in URLs and headers."""
    return prefix + base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip("=")


def hash_of(secret: str) -> str:
    """SHA-256 as 64 hex digits: what is stored and looked up."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()

"""Whether a call knows the secret of its hook: by the secret itself, or by a signature of the body."""

import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from outlast.kernel.webhooks.signatures import sign

TOLERANCE_S: Final = 300
MAX_SIGNATURES: Final = 10
SENDER_ID_CHARS: Final = 200


def is_genuine(secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> bool:
    """True if a header proves it: `Authorization: Bearer`, `X-Hub-Signature-256` (GitHub), or the three of Standard
    Webhooks, whose timestamp must be at most five minutes away. Compares in constant time."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return _is_same(given.strip(), secret)
    if "x-hub-signature-256" in headers:
        return _is_same(headers["x-hub-signature-256"], f"sha256={hmac.digest(secret.encode(), body, 'sha256').hex()}")
    sent_at, message_id = headers.get("webhook-timestamp", ""), headers.get("webhook-id", "")
    if not (sent_at.isascii() and sent_at.isdecimal() and len(sent_at) < 12) or not message_id:
        return False
    if abs(now.timestamp() - int(sent_at)) > TOLERANCE_S:
        return False
    wanted = sign(secret, message_id, int(sent_at), body)
    signatures = headers.get("webhook-signature", "").split(" ")[:MAX_SIGNATURES]
    return any(_is_same(one, wanted) for one in signatures)


def sender_id_of(headers: Mapping[str, str]) -> str:
    """The sender's own id of the call; empty if it has none."""
    for name in ("webhook-id", "x-github-delivery", "idempotency-key"):
        if found := headers.get(name, "").strip():
            return found[:SENDER_ID_CHARS]
    return ""


def _is_same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())

"""The secrets of a webhook, sealed in its row."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from outlast.db.database import Tx
from outlast.kernel.secrets.vault import Vault
from outlast.kernel.webhooks.rows import WebhookRow
from outlast.kernel.webhooks.signatures import new_secret

OLD_SECRET_LASTS: Final = timedelta(days=1)


def make_secret(tx: Tx, vault: Vault, webhook_id: str) -> tuple[str, str]:
    """A new secret, and its sealed form for the row."""
    secret = new_secret()
    return secret, vault.seal(tx, secret, _about(webhook_id))


def open_secrets(vault: Vault, row: WebhookRow, now: datetime) -> Sequence[str]:
    """The secrets that sign now: the newest, and the one before for a day. Raises `SecretKeyMissing`,
    `SecretUnreadable`."""
    is_old_valid = row.old_secret_until is not None and now < row.old_secret_until
    sealed = [row.secret, *([row.old_secret] if row.old_secret is not None and is_old_valid else [])]
    return [vault.open(one, _about(row.id)) for one in sealed]


def _about(webhook_id: str) -> str:
    return f"webhooks.secret {webhook_id}"

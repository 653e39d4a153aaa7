"""Errors of saved secrets. No error contains a secret."""

from outlast.base.errors import InternalError, StartRefused


class SecretKeyMissing(StartRefused):
    """Saved secrets were sealed with a key that this server does not have. Field: `key_id`."""

    code = "secret_key_missing"
    default_hint = (
        "Put the earlier server.key back into the data directory, or set OUTLAST_SECRET_KEY to what it holds. Servers "
        "that share a database need the same key."
    )

    def __init__(self, key_id: str) -> None:
        super().__init__(f"Saved secrets need the key {key_id}, which this server does not have.", key_id=key_id)


class SecretUnreadable(InternalError):
    """A saved secret does not open with its own key: the row was changed."""

    code = "secret_unreadable"
    default_hint = "Enter the secret again."

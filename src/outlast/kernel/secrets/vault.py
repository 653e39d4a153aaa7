"""Secrets in the database: sealed with the server's key, and never without a record of which key that was."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.db.database import Database, Tx
from outlast.db.tables import meta, put_fact
from outlast.kernel.secrets.keyring import Keyring, key_missing, load_keyring

_FACT: Final = "sealing key "  # then a key's id: rows may be sealed with it


class Vault:
    """Seals and opens the secrets of rows. `about` names the row and the column, such as `webhooks.secret whk_…`."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    def seal(self, tx: Tx, text: str, about: str) -> str:
        """The sealed text for a column, of about 4/3 of the text's bytes and 60 more. Records the key in the same
        transaction. Raises `SecretKeyMissing` if other rows were sealed with a key that this server does not have."""
        known = _keys(tx)
        _require(self._keyring, known)
        if self._keyring.key_id not in known:
            put_fact(tx, f"{_FACT}{self._keyring.key_id}", iso(tx.now))
        return self._keyring.seal(text, about)

    def open(self, sealed: str, about: str) -> str:
        """The text. Raises `SecretKeyMissing`, `SecretUnreadable`."""
        return self._keyring.open(sealed, about)


async def open_vault(database: Database, folder: Path, environment: Mapping[str, str]) -> Vault:
    """The vault of a server. Raises `SecretKeyMissing` if rows were sealed with a key that it does not have, and
    `StartRefused` if its own cannot be read."""
    keyring = load_keyring(folder, environment)
    _require(keyring, await database.read(_keys))
    return Vault(keyring)


def _require(keyring: Keyring, key_ids: list[str]) -> None:
    for key_id in key_ids:
        if key_id not in keyring:
            raise key_missing(key_id)


def _keys(tx: Tx) -> list[str]:
    found = tx.execute(sa.select(meta.c.key).where(meta.c.key.startswith(_FACT))).scalars()
    return sorted(key.removeprefix(_FACT) for key in found)

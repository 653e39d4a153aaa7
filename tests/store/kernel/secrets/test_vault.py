"""Sealed rows: their key is known to the database, and a server without it does not start."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast.base.secret_errors import SecretKeyMissing
from outlast.db.database import Database
from outlast.kernel.secrets.vault import open_vault


async def test_what_a_server_sealed_another_with_its_key_opens(db: Database, tmp_path: Path) -> None:
    vault = await open_vault(db, tmp_path, {})
    sealed = await db.write(vault.seal, "hush", "row")
    assert (await open_vault(db, tmp_path, {})).open(sealed, "row") == "hush"


async def test_a_start_without_the_key_of_saved_secrets_is_refused(db: Database, tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    other.mkdir()
    vault, stranger = await open_vault(db, mine, {}), await open_vault(db, other, {})  # nothing is sealed yet
    await db.write(vault.seal, "hush", "row")
    with pytest.raises(SecretKeyMissing):
        await open_vault(db, other, {})
    with pytest.raises(SecretKeyMissing):
        await db.write(stranger.seal, "mine", "row")

"""The server's keys, and texts sealed with them: AES-256-GCM (NIST SP 800-38D) with a random nonce of 96 bits.

A key is 32 random bytes, written as base64. They come from `OUTLAST_SECRET_KEY`, or from the file `server.key` of the
data directory, which the first start creates; several are separated by commas or lines. The first seals, all open.
"""

import base64
import binascii
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from outlast.base.errors import StartRefused
from outlast.base.secret_errors import SecretKeyMissing, SecretUnreadable

VARIABLE: Final = "OUTLAST_SECRET_KEY"
FILE: Final = "server.key"
KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
_ID_CHARS: Final = 12


class Keyring:
    """Seals and opens texts. Never shown: its `repr` names key ids only."""

    def __init__(self, keys: list[bytes]) -> None:
        """`keys`: at least one, of 32 bytes each; the first seals."""
        self._keys = {key_id_of(key): key for key in keys}
        self.key_id = key_id_of(keys[0])

    def __repr__(self) -> str:
        return f"Keyring({', '.join(self._keys)})"

    def __contains__(self, key_id: object) -> bool:
        return key_id in self._keys

    def seal(self, text: str, about: str) -> str:
        """The text, readable only with the key and for the same `about`, which names the row: a sealed text that is
        moved to another row does not open there. Begins with the key's id."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = os.urandom(NONCE_BYTES)
        sealed = AESGCM(self._keys[self.key_id]).encrypt(nonce, text.encode(), about.encode())
        return f"{self.key_id}:{base64.b64encode(nonce + sealed).decode()}"

    def open(self, sealed: str, about: str) -> str:
        """The text again. Raises `SecretKeyMissing` if it was sealed with a key that this server does not have, and
        `SecretUnreadable` if it was changed or belongs to another row."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        key_id, _, body = sealed.partition(":")
        key = self._keys.get(key_id)
        if key is None:
            raise key_missing(key_id)
        try:
            data = base64.b64decode(body, validate=True)
            return AESGCM(key).decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], about.encode()).decode()
        except (InvalidTag, ValueError):
            raise SecretUnreadable("A saved secret was changed in the database and cannot be read.") from None


def key_missing(key_id: str) -> SecretKeyMissing:
    """The error for a key that this server does not have."""
    return SecretKeyMissing(f"Saved secrets need the key {key_id}, which this server does not have.", key_id=key_id)


def key_id_of(key: bytes) -> str:
    """A name for the key that tells nothing of it."""
    return hashlib.sha256(b"outlast key id" + key).hexdigest()[:_ID_CHARS]


def load_keyring(folder: Path, environment: Mapping[str, str]) -> Keyring:
    """The keys of the environment, else of the data directory `folder`; without a file, a key is created there. Raises
    `StartRefused`."""
    given = environment.get(VARIABLE, "")
    if given:
        return Keyring(_parsed(given, VARIABLE))
    file = folder / FILE
    try:
        if not file.exists():
            _create(file)
        file.chmod(0o600)  # a restored copy may be wider
        return Keyring(_parsed(file.read_text("ascii"), str(file)))
    except (OSError, UnicodeDecodeError) as error:
        raise StartRefused(f"The key file {file} cannot be used: {error}.", file=str(file)) from None


def _create(file: Path) -> None:
    fresh = file.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as written:
        written.write(base64.b64encode(os.urandom(KEY_BYTES)) + b"\n")
        written.flush()
        os.fsync(written.fileno())
    fresh.replace(file)


def _parsed(text: str, source: str) -> list[bytes]:
    try:
        keys = [base64.b64decode(word, validate=True) for word in text.replace(",", " ").split()]
    except binascii.Error:
        keys = []
    if not keys or any(len(key) != KEY_BYTES for key in keys):
        raise StartRefused(
            f"{source} does not hold keys of {KEY_BYTES} bytes in base64.",
            hint="Create one with: openssl rand -base64 32",
            source=source,
        )
    return keys

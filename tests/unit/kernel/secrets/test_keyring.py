"""Keys of a server, and texts sealed with them."""

from __future__ import annotations

import base64
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.errors import StartRefused
from outlast.base.secret_errors import SecretKeyMissing, SecretUnreadable
from outlast.kernel.secrets.keyring import FILE, VARIABLE, Keyring, load_keyring

OLD, NEW = (bytes([number]) * 32 for number in (1, 2))


def written(*keys: bytes) -> str:
    return ",".join(base64.b64encode(key).decode() for key in keys)


@given(st.text(), st.text())
def test_a_sealed_text_opens_again_and_shows_nothing_of_itself(text: str, about: str) -> None:
    ring = Keyring([OLD])
    sealed = ring.seal(text, about)
    assert ring.open(sealed, about) == text
    assert len(text) < 8 or text not in sealed
    assert ring.seal(text, about) != sealed  # a nonce is never used twice


def test_a_sealed_text_does_not_open_for_another_row() -> None:
    ring = Keyring([OLD])
    with pytest.raises(SecretUnreadable):
        ring.open(ring.seal("hush", "row 1"), "row 2")


@given(st.data())
def test_a_sealed_text_that_was_changed_does_not_open(data: st.DataObject) -> None:
    ring = Keyring([OLD])
    sealed = ring.seal("hush", "row")
    start = sealed.index(":") + 1
    body = bytearray(base64.b64decode(sealed[start:]))
    body[data.draw(st.integers(0, len(body) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(SecretUnreadable):
        ring.open(sealed[:start] + base64.b64encode(body).decode(), "row")


def test_the_first_key_seals_and_each_key_opens() -> None:
    both = Keyring([NEW, OLD])
    assert both.open(Keyring([OLD]).seal("old", "row"), "row") == "old"
    assert Keyring([NEW]).open(both.seal("new", "row"), "row") == "new"
    with pytest.raises(SecretKeyMissing) as missing:
        Keyring([OLD]).open(both.seal("new", "row"), "row")
    assert missing.value.fields == {"key_id": Keyring([NEW]).key_id}


def test_a_keyring_shows_no_key() -> None:
    ring = Keyring([OLD])
    assert written(OLD) not in repr(ring)
    assert OLD.hex() not in repr(ring)


def test_the_first_start_makes_a_key_that_only_its_user_reads_and_the_next_finds_it(tmp_path: Path) -> None:
    ring = load_keyring(tmp_path, {})
    file = tmp_path / FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)
    assert load_keyring(tmp_path, {}).key_id == ring.key_id
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_environment_has_the_word(tmp_path: Path) -> None:
    ring = load_keyring(tmp_path, {VARIABLE: written(NEW, OLD)})
    assert ring.key_id == Keyring([NEW]).key_id
    assert Keyring([OLD]).key_id in ring
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("bad", ["", "no base64!", base64.b64encode(b"k" * 16).decode()])
def test_a_file_that_holds_no_key_refuses_the_start_without_showing_it(tmp_path: Path, bad: str) -> None:
    (tmp_path / FILE).write_text(bad)
    with pytest.raises(StartRefused, match=r"server\.key") as refused:
        load_keyring(tmp_path, {})
    assert not bad or bad not in str(refused.value.to_dict())

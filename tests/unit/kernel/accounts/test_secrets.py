"""Secrets are long, random and stored as a hash."""

from __future__ import annotations

from outlast.kernel.accounts.secrets import TOKEN_PREFIX, hash_of, new_secret


def test_a_token_carries_its_prefix_and_32_random_bytes() -> None:
    one, two = new_secret(TOKEN_PREFIX), new_secret(TOKEN_PREFIX)
    assert one != two
    assert one.startswith("ol_")
    assert len(one) == 3 + 43


def test_a_hash_tells_nothing_and_takes_any_text() -> None:
    assert len(hash_of("ol_x")) == 64
    assert hash_of("ol_x") != hash_of("ol_y")
    assert hash_of("half\ud800")  # whatever a client sends in a header must not break the look-up

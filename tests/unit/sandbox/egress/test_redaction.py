"""Secrets hidden in what comes back, in whatever form and however it is cut."""

from __future__ import annotations

import base64
import html
import itertools
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as some

from outlast_sandbox.egress.redaction import Redactor

SECRET = b'sk-"Qu/ote" & <tag>+\xc3\xa9=='
LOWER_ESCAPES = "".join(
    f"%{part[:2].lower()}{part[2:]}" if at else part for at, part in enumerate(quote(SECRET, safe="").split("%"))
)
secrets = some.binary(min_size=8, max_size=40).filter(lambda value: value.strip() == value)


def pieces_of(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def streamed(redactor: Redactor, pieces: list[bytes]) -> bytes:
    stream = redactor.stream()
    return b"".join([*(stream.feed(piece) for piece in pieces), stream.finish()])


@pytest.mark.parametrize("told", [b"SK-ABC-DEF-GHI", b"sk-abc-def-ghi", b"Sk-aBc-dEf-gHi"])
def test_upper_and_lower_case_hide_nothing_from_the_search(told: bytes):
    redactor = Redactor([b"sk-AbC-dEf-gHi"])
    assert redactor.hide(b"You sent " + told) == b"You sent " + b"*" * len(told)
    assert redactor.finds(told)
    assert streamed(redactor, [b"You sent " + told[:5], told[5:]]) == b"You sent " + b"*" * len(told)


@pytest.mark.parametrize(
    "told",
    [
        SECRET,
        quote(SECRET).encode(),
        quote(SECRET, safe="").encode(),
        quote_plus(SECRET).encode(),
        LOWER_ESCAPES.encode(),
        "".join(f"%{byte:02x}" for byte in SECRET).encode(),
        SECRET.hex().encode(),
        SECRET.hex().upper().encode(),
        json.dumps(SECRET.decode())[1:-1].encode(),
        json.dumps(SECRET.decode())[1:-1].replace("/", "\\/").encode(),
        html.escape(SECRET.decode()).encode(),
        base64.b64encode(SECRET).rstrip(b"="),
        base64.urlsafe_b64encode(SECRET).rstrip(b"="),
    ],
)
def test_each_way_to_write_it_down_is_hidden(told: bytes) -> None:
    hidden = Redactor([SECRET]).hide(b"before " + told + b" after")
    assert len(hidden) == len(told) + 13
    assert hidden.startswith(b"before *")
    assert hidden.count(b"*") >= len(told) - 1


@given(secrets, some.binary(max_size=5), some.binary(max_size=5))
def test_base64_is_hidden_at_any_position_but_for_the_characters_at_its_edges(
    secret: bytes, before: bytes, after: bytes
) -> None:
    told = base64.b64encode(before + secret + after)
    hidden = Redactor([secret]).hide(told)
    first, last = -(-len(before) * 8 // 6), (len(before) + len(secret)) * 8 // 6
    assert set(hidden[first:last]) == {ord("*")}
    assert len(hidden) == len(told)


@given(secrets, some.lists(some.binary(max_size=30), max_size=5), some.lists(some.integers(0, 1000), max_size=8))
def test_however_it_is_cut_what_comes_out_is_the_same(secret: bytes, between: list[bytes], cuts: list[int]) -> None:
    redactor = Redactor([secret])
    data = secret.join([b"", *between, b""])
    out = streamed(redactor, pieces_of(data, cuts))
    assert out == redactor.hide(data)
    assert secret not in out or set(secret) == {ord("*")}
    assert len(out) == len(data)


@given(
    some.text("ab", min_size=8, max_size=10), some.text("ab", max_size=60), some.lists(some.integers(0, 60), max_size=8)
)
def test_overlapping_and_self_similar_secrets_are_hidden_too(secret: str, data: str, cuts: list[int]) -> None:
    redactor = Redactor([secret.encode(), secret[3:].encode() * 2])
    out = streamed(redactor, pieces_of(data.encode(), cuts))
    assert out == redactor.hide(data.encode())


def test_what_cannot_be_the_beginning_of_a_secret_is_not_held_back() -> None:
    stream = Redactor([b"sk-123456789"]).stream()
    assert stream.feed(b"data: hello\n\n") == b"data: hello\n\n"
    assert stream.feed(b"data: sk-12") == b"data: "
    assert stream.feed(b" is no secret") == b"sk-12 is no secret"


def test_without_secrets_everything_passes() -> None:
    redactor = Redactor()
    assert not redactor
    assert streamed(redactor, [b"a", b"b"]) == b"ab"


def test_a_long_secret_costs_no_more_memory_than_its_forms() -> None:
    redactor = Redactor([b"k" + b"x" * 8000])
    assert streamed(redactor, [b"k" + b"x" * 4000, b"x" * 4000]) == b"*" * 8001


def test_it_prints_without_what_it_hides() -> None:
    assert "sk-" not in repr(Redactor([b"sk-123456789"]))

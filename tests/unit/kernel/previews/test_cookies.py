from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.kernel.previews.cookies import granting, grants_in, limited, without_ours

NAMES = st.from_regex(r"[A-Za-z0-9_-]{1,12}", fullmatch=True).filter(lambda name: "outlast_" not in name.lower())
OURS = st.sampled_from(["outlast_preview", "__Host-outlast_preview", "outlast_session", "__secure-Outlast_x"])
PAIRS = st.lists(st.tuples(st.one_of(NAMES, OURS), st.from_regex(r"[a-z0-9=]{0,8}", fullmatch=True)), max_size=6)


@given(PAIRS)
def test_of_any_cookies_only_theirs_go_inside(pairs: list[tuple[str, str]]):
    header = "; ".join(f"{name}={value}" for name, value in pairs).encode()
    left = without_ours(header)
    assert b"outlast_" not in left.lower()
    theirs = [f"{name}={value}".encode() for name, value in pairs if "outlast_" not in name.lower()]
    assert [piece.strip() for piece in left.split(b";") if piece.strip()] == theirs


def test_every_value_that_may_be_a_grant_is_tried_once():
    headers = [b"a=1; outlast_preview=x; __Host-outlast_preview=y", b"outlast_preview=x; outlast_preview="]
    assert grants_in(headers) == ["x", "y"]
    assert len(grants_in([b"; ".join(b"outlast_preview=%d" % number for number in range(100))])) == 8


@pytest.mark.parametrize(
    ("given_", "left"),
    [
        (b"a=1; Path=/; Domain=.preview.localhost; HttpOnly", b"a=1; Path=/; HttpOnly"),
        (b"a=1; DOMAIN = x ;Secure", b"a=1;Secure"),
        (b"a=domain=x", b"a=domain=x"),
        (b"outlast_preview=1", None),
        (b" __Host-outlast_preview = 1; Path=/", None),
        (b"OUTLAST_session=1", None),
    ],
)
def test_a_cookie_set_inside_stays_with_its_host(given_: bytes, left: bytes | None):
    assert limited(given_) == left


def test_without_tls_beyond_this_machine_a_plain_cookie_goes_along():
    assert len(granting("v", is_local=False, is_secure=True)) == 1
    assert len(granting("v", is_local=False, is_secure=False)) == 2
    assert len(granting("v", is_local=True, is_secure=False)) == 2

from __future__ import annotations

from outlast.kernel.previews.headers import first, to_inside, to_outside

VISITOR = "10.0.0.7", "https"


def test_headers_between_neighbours_go_no_further():
    headers = [
        (b"connection", b"keep-alive, X-Secret"),
        (b"x-secret", b"1"),
        (b"te", b"trailers"),
        (b"upgrade", b"h2c"),
        (b"transfer-encoding", b"chunked"),
        (b"accept", b"*/*"),
    ]
    assert [name for name, _ in to_inside(headers, *VISITOR)] == [
        b"accept",
        b"x-forwarded-for",
        b"x-forwarded-host",
        b"x-forwarded-proto",
    ]
    policy = b"frame-ancestors 'self'"
    assert [name for name, _ in to_outside(headers, policy)] == [b"accept", b"content-security-policy"]


def test_what_a_visitor_claims_about_proxies_is_not_believed():
    headers = [(b"x-forwarded-for", b"1.1.1.1"), (b"x-real-ip", b"1.1.1.1"), (b"forwarded", b"for=1.1.1.1")]
    inside = to_inside(headers, *VISITOR)
    assert (b"x-forwarded-for", b"10.0.0.7") in inside
    assert b"1.1.1.1" not in b"".join(value for _, value in inside)
    assert first(inside, b"x-forwarded-proto") == b"https"


def test_a_connection_header_cannot_take_the_host_away():
    inside = to_inside([(b"connection", b"host"), (b"host", b"a")], *VISITOR)
    assert first(inside, b"host") == b"a"


def test_the_apps_own_policy_stays_beside_ours():
    headers = to_outside(
        [(b"content-security-policy", b"default-src 'self'")], b"frame-ancestors 'self' http://localhost:1"
    )
    assert [value for name, value in headers if name == b"content-security-policy"] == [
        b"default-src 'self'",
        b"frame-ancestors 'self' http://localhost:1",
    ]

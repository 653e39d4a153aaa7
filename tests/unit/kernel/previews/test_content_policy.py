"""What pages of previews may load and reach."""

import pytest

from outlast.kernel.previews.content_policy import blocked_picture, preview_policy

HOST = "3000-sbx-1.preview.localhost:8400"


def directives(policy: bytes) -> dict[str, str]:
    pairs = (part.strip().partition(" ") for part in policy.decode().split(";"))
    return {name: value for name, _, value in pairs}


def test_a_page_reaches_its_own_origin_and_its_sandboxes_other_services_alone():
    told = directives(preview_policy(b"'self' http://localhost:8400", HOST, "http"))
    assert told == {
        "frame-ancestors": "'self' http://localhost:8400",
        "connect-src": f"'self' ws://{HOST}",
        "img-src": "'self' data: blob:",
        "form-action": "'self'",
        "frame-src": "'self'",
        "report-uri": "/.outlast/reports",
    }
    told = directives(preview_policy(b"'self'", "a.example", "https", ["b.example"]))
    assert told["connect-src"] == "'self' wss://a.example https://b.example wss://b.example"


def test_allowed_hosts_of_pictures_stand_in_the_policy():
    told = directives(preview_policy(b"'self'", HOST, "http", (), ["images.example.org", "*.cdn.example"]))
    assert told["img-src"] == "'self' data: blob: images.example.org *.cdn.example"


@pytest.mark.parametrize(
    ("report", "blocked"),
    [
        (
            b'{"csp-report":{"effective-directive":"img-src","blocked-uri":"https://a.example/x"}}',
            "https://a.example/x",
        ),
        (
            b'{"csp-report":{"violated-directive":"img-src \'self\'","blocked-uri":"https://a.example"}}',
            "https://a.example",
        ),
        (b'{"csp-report":{"effective-directive":"connect-src","blocked-uri":"https://a.example"}}', ""),
        (b'{"csp-report":"x"}', ""),
        (b'{"csp-report":{"effective-directive":"img-src"}}', ""),
        (b"[]", ""),
        (b"{", ""),
        (b"\xff", ""),
        (b"", ""),
    ],
)
def test_a_report_names_the_picture_that_was_blocked(report: bytes, blocked: str):
    assert blocked_picture(report) == blocked

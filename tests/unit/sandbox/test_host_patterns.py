"""Names of hosts in settings and requests, in one form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from outlast_sandbox.host_patterns import NotAHost, parse_host_port, parse_pattern, plain_host


@pytest.mark.parametrize(
    ("pattern", "host", "port", "fits"),
    [
        ("example.com", "example.com", 443, True),
        ("example.com", "example.com", 80, True),
        ("example.com", "example.com", 8080, False),
        ("example.com:8080", "example.com", 8080, True),
        ("example.com:8080", "example.com", 443, False),
        ("Example.COM.", "example.com", 443, True),
        ("example.com", "www.example.com", 443, False),
        ("example.com", "badexample.com", 443, False),
        ("*.example.com", "www.example.com", 443, True),
        ("*.example.com", "a.b.example.com", 443, True),
        ("*.example.com", "example.com", 443, False),
        ("*.example.com", "badexample.com", 443, False),
        ("*.example.com:9000", "www.example.com", 9000, True),
        ("*", "anything.example", 443, True),
        ("*", "anything.example", 22, False),
        ("bücher.example", "xn--bcher-kva.example", 443, True),
        ("[2606:4700::1111]", "2606:4700::1111", 443, True),
        ("[2606:4700:0:0::1111]:8443", "2606:4700::1111", 8443, True),
        ("93.184.216.34", "93.184.216.34", 80, True),
    ],
)
def test_a_pattern_matches_what_it_names_and_no_neighbour(pattern: str, host: str, port: int, fits: bool) -> None:
    assert parse_pattern(pattern).matches(host, port) is fits


@pytest.mark.parametrize(
    "text",
    [
        "", ".", "a b", "http://example.com", "example.com/path", "user@example.com", "*.*.example.com",
        "a.*.example", "*example.com", "*.", "*.10.0.0.1", "-a.example", "a-.example", "a..example", "example.com:0",
        "example.com:65536", "example.com:x", "example.com:", "127.1", "0x7f.1", "2130706433", "1.2.3.4.5",
        "256.1.1.1", "01.2.3.4", "::1", "[::1", "[fe80::1%lo]", "[not:an:address]", "a" * 64 + ".example",
        ".".join(["a" * 60] * 5), "a\x00.example",
        "example.com\n",
    ],
)  # fmt: skip
def test_what_names_no_host_is_refused(text: str) -> None:
    if text.strip() == "example.com":  # white space around it is no matter in settings
        assert str(parse_pattern(text)) == "example.com"
        return
    with pytest.raises(NotAHost):
        parse_pattern(text)


def test_an_exception_names_its_port() -> None:
    assert parse_host_port("127.0.0.1:8080") == ("127.0.0.1", 8080)
    assert parse_host_port("[::1]:8080") == ("::1", 8080)
    with pytest.raises(NotAHost, match="HOST:PORT"):
        parse_host_port("127.0.0.1")


@given(some.text(alphabet="aA0.-_:[]*%ü/@ ", max_size=20))
def test_whatever_is_taken_is_in_one_form_and_says_itself_again(text: str) -> None:
    try:
        pattern = parse_pattern(text)
    except NotAHost:
        return
    assert parse_pattern(str(pattern)) == pattern
    if not pattern.below:
        assert plain_host(pattern.host) == pattern.host

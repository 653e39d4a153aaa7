"""Names, addresses and headers of MCP servers."""

import pytest

from outlast.base.errors import MalformedInput
from outlast.kernel.mcp.rules import checked_header, checked_name, checked_url, header_value


@pytest.mark.parametrize("name", ["linear", "a", "issue-tracker-2"])
def test_a_name_is_short_and_has_no_underscore_that_would_part_it_from_the_tool(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize("name", ["", "Linear", "2linear", "my_server", "a.b", "a" * 25, "linear\n"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(MalformedInput):
        checked_name(name)


@pytest.mark.parametrize("header", ["", "Host", "Content-Type", "Mcp-Session-Id", "X Key", "X-Key\r\nHost", "accept"])
def test_headers_of_the_protocol_and_invalid_ones_carry_no_secret(header: str) -> None:
    with pytest.raises(MalformedInput):
        checked_header(header)


@pytest.mark.parametrize(
    "url",
    [
        "https://",
        "ftp://example.com",
        "https://me:secret@example.com/mcp",
        "http://10.0.0.1/mcp",
        "http://127.0.0.1:8000/mcp",
        "http://[::1]/mcp",
        "http://169.254.169.254/",
        "https://example.com/a b",
        f"https://example.com/{'a' * 2_000}",
    ],
)
def test_an_address_that_is_not_a_public_web_address_is_refused(url: str) -> None:
    with pytest.raises(MalformedInput):
        checked_url(url, frozenset())


def test_the_operator_can_allow_a_private_address() -> None:
    assert checked_url("http://127.0.0.1:8000/mcp", frozenset({("127.0.0.1", 8000)})) == ("127.0.0.1", 8000)


def test_only_a_bare_secret_of_authorization_gets_a_scheme() -> None:
    assert header_value("Authorization", "abc") == "Bearer abc"
    assert header_value("authorization", "Basic abc") == "Basic abc"
    assert header_value("X-Api-Key", "abc") == "abc"

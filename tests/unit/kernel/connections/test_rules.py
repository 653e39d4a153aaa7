"""What authorization servers and resources may answer."""

from __future__ import annotations

from typing import Any

import pytest

from outlast.base.connection_errors import SignInFailed, SignInRefused
from outlast.kernel.connections.rules import (
    Metadata,
    Resource,
    authorization_url,
    challenge_of,
    challenge_parameters,
    check_issuer,
    checked_metadata,
    checked_resource,
    checked_tokens,
    issuer_addresses,
    method_for,
    refusal,
    resource_addresses,
    scope_for,
)

URL = "https://mcp.example.com/mcp"
ISSUER = "https://login.example.com"
METADATA = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "code_challenge_methods_supported": ["S256"],
}


def metadata(**more: Any) -> Metadata:
    return checked_metadata(METADATA | more, ISSUER)


def test_the_challenge_of_a_401_names_the_metadata_and_the_scopes() -> None:
    header = 'Bearer error="invalid_token", resource_metadata="https://mcp.example.com/x", scope="read write", a=b'
    found = challenge_parameters(header)
    assert (found["resource_metadata"], found["scope"], found["a"]) == ("https://mcp.example.com/x", "read write", "b")
    assert challenge_parameters('Basic realm="x"') == challenge_parameters("") == {}


def test_metadata_is_looked_for_at_the_well_known_places_in_order() -> None:
    assert resource_addresses(URL) == [
        "https://mcp.example.com/.well-known/oauth-protected-resource/mcp",
        "https://mcp.example.com/.well-known/oauth-protected-resource",
    ]
    assert resource_addresses("https://mcp.example.com/") == resource_addresses("https://mcp.example.com")[:1]
    assert issuer_addresses(f"{ISSUER}/tenant/") == [
        f"{ISSUER}/.well-known/oauth-authorization-server/tenant",
        f"{ISSUER}/.well-known/openid-configuration/tenant",
        f"{ISSUER}/tenant/.well-known/openid-configuration",
    ]
    assert len(issuer_addresses(ISSUER)) == 2


@pytest.mark.parametrize("identifier", [URL, f"{URL}/", "https://mcp.example.com", "https://MCP.example.com/"])
def test_a_resource_may_be_the_address_or_one_above_it(identifier: str) -> None:
    found = {"resource": identifier, "authorization_servers": [ISSUER], "scopes_supported": ["read"]}
    assert checked_resource(found, URL, {}) == Resource(identifier, [ISSUER], ["read"])
    assert checked_resource(found, URL, {"scope": "write"}).scopes == ["write"]


@pytest.mark.parametrize(
    "identifier", ["https://mcp.example.com/mc", "http://mcp.example.com/mcp", "https://example.com/mcp", None, ""]
)
def test_any_other_resource_is_refused(identifier: str | None) -> None:
    with pytest.raises(SignInRefused):
        checked_resource({"resource": identifier, "authorization_servers": [ISSUER]}, URL, {})


def test_metadata_has_defaults_and_a_slash_at_the_end_of_an_issuer_does_not_count() -> None:
    found = checked_metadata(METADATA, f"{ISSUER}/")
    assert (found.issuer, found.methods, found.takes_documents) == (ISSUER, ["client_secret_basic"], False)
    assert found.registration is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"issuer": "https://evil.example.com"},
        {"token_endpoint": None},
        {"code_challenge_methods_supported": "S256"},
        {"code_challenge_methods_supported": []},
    ],
)
def test_metadata_of_another_issuer_without_endpoints_or_without_pkce_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SignInRefused):
        metadata(**wrong)


def test_a_client_proves_itself_in_a_way_that_the_server_takes() -> None:
    assert method_for(metadata(), None) == "none"
    assert method_for(metadata(), "x") == "client_secret_basic"
    assert (
        method_for(metadata(token_endpoint_auth_methods_supported=["client_secret_post"]), "x") == "client_secret_post"
    )


def test_a_refresh_token_is_asked_for_where_that_is_a_scope() -> None:
    resource = Resource(URL, [ISSUER], ["read", "read"])
    assert scope_for(resource, metadata()) == "read"
    assert scope_for(resource, metadata(scopes_supported=["offline_access"])) == "read offline_access"


def test_the_challenge_is_that_of_rfc_7636() -> None:
    assert challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_an_address_keeps_the_query_of_its_endpoint() -> None:
    assert authorization_url("https://a.example.com/x?tenant=1", {"state": "a b"}).endswith("?tenant=1&state=a+b")


def test_the_issuer_of_an_answer_is_checked_and_required_where_the_server_says_so() -> None:
    check_issuer(ISSUER, ISSUER, required=True)
    check_issuer(ISSUER, None, required=False)
    for given, required in ((None, True), (f"{ISSUER}/", False), ("https://evil.example.com", False)):
        with pytest.raises(SignInRefused):
            check_issuer(ISSUER, given, required=required)


def test_a_refusal_quotes_only_the_word_of_the_protocol() -> None:
    assert "not allowed" in refusal("access_denied", ISSUER).message
    assert refusal("<b>Bad Idea</b>", ISSUER).message.endswith("(bbadideab).")


def test_tokens_are_texts_for_a_header_with_a_life_if_it_is_known() -> None:
    assert checked_tokens({"access_token": "a", "expires_in": 60, "refresh_token": "r"}, ISSUER) == ("a", "r", 60.0)
    assert checked_tokens({"access_token": "a", "expires_in": "soon"}, ISSUER) == ("a", None, None)
    for wrong in ({}, {"access_token": "a\r\nHost: x"}, {"access_token": ""}, {"access_token": "ä"}):
        with pytest.raises(SignInFailed):
            checked_tokens(wrong, ISSUER)
    with pytest.raises(SignInRefused):
        checked_tokens({"access_token": "a", "token_type": "DPoP"}, ISSUER)

"""What authorization servers and resources may answer (RFC 8414, 8707, 9207, 9728). Pure."""

import base64
import re
import secrets
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode, urlsplit, urlunsplit

from outlast.base.connection_errors import SignInFailed, SignInRefused

PKCE: Final = "S256"
METHODS: Final = ("client_secret_basic", "client_secret_post")
MAX_SCOPE_CHARS: Final = 2_000
_PARAMETER: Final = re.compile(r'([a-z_]+)\s*=\s*(?:"([^"]*)"|([^\s",]+))', re.IGNORECASE)


class Metadata(NamedTuple):
    """An authorization server, as far as this server needs it. `registration` is its endpoint for new clients;
    `takes_documents`: a client may be the address of a document."""

    issuer: str
    authorization: str
    token: str
    registration: str | None
    revocation: str | None
    methods: Sequence[str]
    scopes: Sequence[str]
    takes_documents: bool
    states_issuer: bool


class Resource(NamedTuple):
    """A protected resource: its identifier, the issuers that sign people in for it, and the scopes to ask for."""

    identifier: str
    issuers: Sequence[str]
    scopes: Sequence[str]


def challenge_parameters(header: str) -> dict[str, str]:
    """The parameters of a `WWW-Authenticate` header with the scheme Bearer; none for another scheme."""
    scheme, _, rest = header.strip().partition(" ")
    if scheme.lower() != "bearer":
        return {}
    return {name.lower(): quoted or plain for name, quoted, plain in _PARAMETER.findall(rest)}


def resource_addresses(url: str) -> list[str]:
    """Where a resource's metadata may be, in order (RFC 9728 §3.1)."""
    parts = urlsplit(url)
    path = "" if parts.path == "/" else parts.path
    places = dict.fromkeys((f"/.well-known/oauth-protected-resource{path}", "/.well-known/oauth-protected-resource"))
    return [urlunsplit((parts.scheme, parts.netloc, place, "", "")) for place in places]


def issuer_addresses(issuer: str) -> list[str]:
    """Where an authorization server's metadata may be, in order (RFC 8414 §3.1, OpenID Connect Discovery §4)."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    places = [f"/.well-known/oauth-authorization-server{path}", f"/.well-known/openid-configuration{path}"]
    places += [f"{path}/.well-known/openid-configuration"] if path else []
    return [urlunsplit((parts.scheme, parts.netloc, place, "", "")) for place in places]


def checked_resource(found: Mapping[str, Any], url: str, challenge: Mapping[str, str]) -> Resource:
    """The resource's metadata, if it is about the server at `url`. Raises `SignInRefused`."""
    identifier, issuers = found.get("resource"), _texts(found.get("authorization_servers"))
    if not isinstance(identifier, str) or not _covers(identifier, url):
        raise SignInRefused("The server's metadata is about another resource, so no token is asked for it.", server=url)
    if not issuers:
        raise SignInRefused("The server does not say where people sign in.", server=url)
    asked = challenge.get("scope", "").split() or _texts(found.get("scopes_supported"))
    return Resource(identifier, issuers, asked)


def checked_metadata(found: Mapping[str, Any], issuer: str) -> Metadata:
    """The authorization server's metadata. Raises `SignInRefused` for another issuer's, and for one without PKCE."""
    named = found.get("issuer")
    if not isinstance(named, str) or named.rstrip("/") != issuer.rstrip("/"):
        raise SignInRefused("The metadata of the sign-in server names another issuer.", server=issuer)
    authorization, token = found.get("authorization_endpoint"), found.get("token_endpoint")
    if not isinstance(authorization, str) or not isinstance(token, str):
        raise SignInRefused("The sign-in server does not name its endpoints.", server=issuer)
    if PKCE not in _texts(found.get("code_challenge_methods_supported")):
        raise SignInRefused(
            "The sign-in server does not support PKCE with S256, without which a code could be used by others.",
            server=issuer,
        )
    return Metadata(
        issuer=named,
        authorization=authorization,
        token=token,
        registration=_text(found.get("registration_endpoint")),
        revocation=_text(found.get("revocation_endpoint")),
        methods=_texts(found.get("token_endpoint_auth_methods_supported")) or ["client_secret_basic"],
        scopes=_texts(found.get("scopes_supported")),
        takes_documents=found.get("client_id_metadata_document_supported") is True,
        states_issuer=found.get("authorization_response_iss_parameter_supported") is True,
    )


def method_for(metadata: Metadata, secret: str | None) -> str:
    """How a client with this secret proves itself at the token endpoint."""
    if secret is None:
        return "none"
    return next((method for method in METHODS if method in metadata.methods), METHODS[0])


def scope_for(resource: Resource, metadata: Metadata) -> str:
    """The scopes to ask for: those of the resource, and a refresh token where that is a scope."""
    wanted = [*resource.scopes, *(["offline_access"] if "offline_access" in metadata.scopes else [])]
    return " ".join(dict.fromkeys(wanted))[:MAX_SCOPE_CHARS]


def new_verifier() -> str:
    """A secret for PKCE, or for a state."""
    return secrets.token_urlsafe(48)


def challenge_of(verifier: str) -> str:
    """The S256 challenge of a verifier (RFC 7636)."""
    return base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def authorization_url(endpoint: str, parameters: Mapping[str, str]) -> str:
    """The address that a browser opens to sign in."""
    return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(parameters)}"


def check_redirect(redirect_uri: str, came_to: str, issuer: str) -> None:
    """Check that the browser came back to the path that the server was given. Raises `SignInRefused`."""
    if urlsplit(redirect_uri).path != came_to:
        raise SignInRefused("The answer comes from another server than the one that was asked.", server=issuer)


def check_issuer(issuer: str, given: str | None, *, required: bool) -> None:
    """Check which server the answer comes from (RFC 9207). Raises `SignInRefused`."""
    if given is None and required:
        raise SignInRefused("The answer does not name the server that it comes from.", server=issuer)
    if given is not None and given != issuer:
        raise SignInRefused("The answer comes from another sign-in server than the one that was asked.", server=issuer)


def refusal(error: str, issuer: str) -> SignInRefused:
    """The error for what an authorization server answered instead of a code."""
    if error == "access_denied":
        return SignInRefused(
            "Access was not allowed at the other server.", hint="Begin again with Connect.", server=issuer
        )
    return SignInRefused(f"The sign-in server refused the request ({_word(error)}).", server=issuer)


def checked_tokens(found: Mapping[str, Any], issuer: str) -> tuple[str, str | None, float | None]:
    """The access token, the refresh token (None: none), and the seconds that the first lasts (None: not known)."""
    access, lasts, refresh = found.get("access_token"), found.get("expires_in"), _text(found.get("refresh_token"))
    if not isinstance(access, str) or not access.isascii() or not access.isprintable() or not access:
        raise SignInFailed("The sign-in server answered without a token.", server=issuer)
    if str(found.get("token_type", "bearer")).lower() != "bearer":
        raise SignInRefused("The sign-in server gives tokens of a type that is not supported.", server=issuer)
    known = isinstance(lasts, int | float) and not isinstance(lasts, bool) and 0 < lasts < 1e9
    return access, refresh, float(lasts) if known and lasts is not None else None


def _word(text: str) -> str:
    return re.sub(r"[^a-z_]", "", text.lower())[:60] or "no reason"


def _covers(identifier: str, url: str) -> bool:
    """True if the identifier is the address, or one above it on the same origin."""
    one, other = urlsplit(identifier), urlsplit(url)
    if (one.scheme, one.netloc.lower()) != (other.scheme, other.netloc.lower()):
        return False
    above, path = one.path.rstrip("/"), other.path.rstrip("/")
    return path == above or path.startswith(f"{above}/")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []

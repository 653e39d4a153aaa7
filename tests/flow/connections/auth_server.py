"""An authorization server made with Authlib, on the loopback interface: PKCE, the parameters `resource` and `iss`,
registration, clients that are the address of a document, revocation, and refresh tokens that rotate and die, with their
whole family, when one is used twice."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import flask
import httpx
import werkzeug.serving
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import InvalidGrantError, grants
from authlib.oauth2.rfc6749.errors import OAuth2Error
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7591 import ClientRegistrationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc9207 import IssuerParameter

METHODS = ("none", "client_secret_basic", "client_secret_post")
DOCUMENTS = "client_id_metadata_document_supported"
CONSENT = """<!doctype html><title>Tracker</title><h1>Outlast asks for your account</h1>
<form method=post><button>Allow</button></form>"""


@dataclass
class Client:
    """A registered client; Authlib asks it what it may do."""

    client_id: str
    secret: str
    redirect_uris: list[str]
    method: str

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> str:
        return self.redirect_uris[0]

    def get_allowed_scope(self, scope: str) -> str:
        return scope or ""

    def check_redirect_uri(self, uri: str) -> bool:
        return uri in self.redirect_uris

    def check_client_secret(self, secret: str) -> bool:
        return secret == self.secret

    def check_endpoint_auth_method(self, method: str, _endpoint: str) -> bool:
        return method == self.method

    def check_response_type(self, kind: str) -> bool:
        return kind == "code"

    def check_grant_type(self, kind: str) -> bool:
        return kind in ("authorization_code", "refresh_token")


@dataclass
class Code:
    code: str
    client_id: str
    redirect_uri: str
    user: str
    resource: str
    code_challenge: str
    code_challenge_method: str = "S256"

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return ""


@dataclass
class Token:
    access_token: str
    refresh_token: str
    client_id: str
    user: str
    resource: str
    family: str
    expires_in: int
    is_used: bool = False

    def check_client(self, client: Client) -> bool:
        return self.client_id == client.client_id

    def get_scope(self) -> str:
        return ""

    def get_expires_in(self) -> int:
        return self.expires_in


@dataclass
class AuthServer:
    """What a test sets and sees. `answers`: fields of the metadata that replace the real ones (None: left out); `user`:
    who signs in; `renewals`: tokens that were renewed; `hosts`: where the hosts of clients' documents are reached, in
    place of their names and certificates."""

    port: int = 0
    lasts_s: int = 3600
    method: str = "none"
    user: str = "ana"
    answers: dict[str, Any] = field(default_factory=dict)
    hosts: dict[str, str] = field(default_factory=dict)
    clients: dict[str, Client] = field(default_factory=dict)
    codes: dict[str, Code] = field(default_factory=dict)
    tokens: list[Token] = field(default_factory=list)
    forms: list[dict[str, str]] = field(default_factory=list)
    renewals: int = 0
    revoked: int = 0
    is_down: bool = False
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client_of(self, client_id: str) -> Client | None:
        """The client that is registered, or that the document at this address describes (draft-ietf-oauth-client-id-
        metadata-document): the address has https and a path, and the document has to name it."""
        parts = urlsplit(client_id)
        if parts.scheme != "https" or not parts.path or self.answers.get(DOCUMENTS) is not True:
            return self.clients.get(client_id)
        asked = httpx.get(f"{self.hosts[parts.netloc]}{parts.path}", headers={"Host": parts.netloc}, timeout=60)
        found = asked.json() if asked.headers["content-type"].startswith("application/json") else {}
        method = found.get("token_endpoint_auth_method")
        if asked.status_code != 200 or found.get("client_id") != client_id or method != "none":
            return None
        return Client(client_id, "", found["redirect_uris"], method)

    def subject_of(self, access: str) -> Token | None:
        """The live token of this text."""
        return next((one for one in self.tokens if one.access_token == access), None)

    def revoke_all(self) -> None:
        self.tokens.clear()

    def expire_all(self) -> None:
        """Access tokens are refused from now on; refresh tokens are good."""
        for one in self.tokens:
            one.access_token = secrets.token_hex()


def make_app(it: AuthServer) -> flask.Flask:  # noqa: C901 - Authlib wants a class for each of its endpoints
    app = flask.Flask("auth")
    app.config["OAUTH2_TOKEN_EXPIRES_IN"] = {"authorization_code": it.lasts_s}

    def save_token(token: dict[str, Any], request: Any) -> None:
        old, user = request.refresh_token, request.user
        resource = old.resource if old is not None else request.authorization_code.resource
        family = old.family if old is not None else secrets.token_hex(4)
        it.tokens.append(
            Token(
                token["access_token"],
                token["refresh_token"],
                request.client.client_id,
                user,
                resource,
                family,
                it.lasts_s,
            )
        )

    server = AuthorizationServer(app, it.client_of, save_token)

    def lasts(*_: Any) -> int:
        return it.lasts_s

    def text(*_: Any, **__: Any) -> str:
        return secrets.token_urlsafe(24)

    server.register_token_generator("default", BearerTokenGenerator(text, text, lasts))

    class CodeGrant(grants.AuthorizationCodeGrant):  # type: ignore[misc]  # Authlib has no types
        TOKEN_ENDPOINT_AUTH_METHODS = METHODS

        def save_authorization_code(self, code: str, request: Any) -> None:
            data = request.payload.data
            back, resource, challenge = data["redirect_uri"], data["resource"], data["code_challenge"]
            it.codes[code] = Code(code, request.client.client_id, back, request.user, resource, challenge)

        def query_authorization_code(self, code: str, client: Client) -> Code | None:
            found = it.codes.get(code)
            return found if found is not None and found.client_id == client.client_id else None

        def delete_authorization_code(self, code: Code) -> None:
            del it.codes[code.code]

        def authenticate_user(self, code: Code) -> str:
            if self.request.form.get("resource") != code.resource:
                raise InvalidGrantError("another resource")
            return code.user

    class RefreshGrant(grants.RefreshTokenGrant):  # type: ignore[misc]
        INCLUDE_NEW_REFRESH_TOKEN = True
        TOKEN_ENDPOINT_AUTH_METHODS = METHODS

        def authenticate_refresh_token(self, refresh_token: str) -> Token | None:
            found = next((one for one in it.tokens if one.refresh_token == refresh_token), None)
            if found is not None and found.is_used:  # stolen, or used twice: the whole family dies
                it.tokens[:] = [one for one in it.tokens if one.family != found.family]
                return None
            return found

        def authenticate_user(self, token: Token) -> str:
            return token.user

        def revoke_old_credential(self, token: Token) -> None:
            it.renewals += 1
            token.is_used, token.access_token = True, secrets.token_hex()

    class Issuer(IssuerParameter):  # type: ignore[misc]
        def get_issuer(self) -> str:
            return it.issuer

    class Registration(ClientRegistrationEndpoint):  # type: ignore[misc]
        def authenticate_token(self, _request: Any) -> bool:
            return True

        def generate_client_id(self, _request: Any) -> str:
            return secrets.token_hex(8)

        def generate_client_secret(self, _request: Any) -> str:
            return "" if it.method == "none" else secrets.token_hex(16)

        def get_server_metadata(self) -> None:
            return None

        def save_client(self, info: dict[str, Any], metadata: dict[str, Any], _request: Any) -> Client:
            client = Client(info["client_id"], info["client_secret"], metadata["redirect_uris"], it.method)
            it.clients[client.client_id] = client
            return client

    class Revocation(RevocationEndpoint):  # type: ignore[misc]
        CLIENT_AUTH_METHODS = METHODS

        def query_token(self, text: str, _hint: str) -> Token | None:
            return next((one for one in it.tokens if text in (one.refresh_token, one.access_token)), None)

        def revoke_token(self, token: Token, _request: Any) -> None:
            it.revoked += 1
            it.tokens[:] = [one for one in it.tokens if one.family != token.family]

    server.register_grant(CodeGrant, [CodeChallenge(required=True)])
    server.register_grant(RefreshGrant)
    server.register_extension(Issuer())
    server.register_endpoint(Registration)
    server.register_endpoint(Revocation)

    @app.get("/.well-known/oauth-authorization-server")
    def metadata() -> Any:
        found = {
            "issuer": it.issuer,
            "authorization_endpoint": f"{it.issuer}/authorize",
            "token_endpoint": f"{it.issuer}/token",
            "registration_endpoint": f"{it.issuer}/register",
            "revocation_endpoint": f"{it.issuer}/revoke",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": [it.method],
            "authorization_response_iss_parameter_supported": True,
        } | it.answers
        return flask.jsonify({name: value for name, value in found.items() if value is not None})

    @app.get("/authorize")
    def ask() -> Any:
        return CONSENT

    @app.post("/authorize")
    def allow() -> Any:
        with it.lock:
            grant = server.get_consent_grant(end_user=it.user)
            return server.create_authorization_response(grant=grant, grant_user=it.user)

    @app.post("/token")
    def token() -> Any:
        with it.lock:
            it.forms.append(dict(flask.request.form))
            if it.is_down:
                return flask.jsonify({"error": "temporarily_unavailable"}), 503
            return server.create_token_response()

    @app.post("/register")
    def register() -> Any:
        return server.create_endpoint_response(Registration.ENDPOINT_NAME)

    @app.post("/revoke")
    def revoke() -> Any:
        with it.lock:
            return server.create_endpoint_response(Revocation.ENDPOINT_NAME)

    @app.errorhandler(OAuth2Error)
    def refuse(error: OAuth2Error) -> Any:
        return server.handle_error_response(None, error)

    return app


@contextmanager
def auth_server(**options: Any) -> Iterator[AuthServer]:
    """The server, at work in a thread."""
    it = AuthServer(**options)
    with threaded(make_app(it)) as port:
        it.port = port
        yield it


@contextmanager
def threaded(app: Any) -> Iterator[int]:
    """The port of a WSGI application at work in a thread."""
    server = werkzeug.serving.make_server("127.0.0.1", 0, app, threaded=True, request_handler=_Quiet)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join(5)
        server.server_close()


class _Quiet(werkzeug.serving.WSGIRequestHandler):
    def log(self, *_: Any) -> None:
        """Nothing."""

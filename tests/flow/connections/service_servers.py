"""A server of ours for each kind of service, on the loopback interface, written from the pages of its reference that
`kinds/*.py` names: sign-in, token endpoint, the request that names the account, and revocation."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import flask

from tests.flow.connections.auth_server import threaded

CLIENT, SECRET = "outlast-test", "hush-hush"
CONSENT = "<!doctype html><title>Service</title><form method=post><button>Allow</button></form>"


@dataclass
class ServiceServer:
    """What a test sets and sees. `expires`: tokens end and come with refresh tokens; `iss`: what answers name; `live`:
    access tokens with their users, `refreshes`: refresh tokens; `asked`: the last authorization request; `registered`:
    the only address to come back to, if it is not empty."""

    port: int = 0
    user: str = "ana"
    expires: bool = False
    iss: str = ""
    is_plain: bool = False
    registered: str = ""
    client_secret: str = SECRET
    live: dict[str, str] = field(default_factory=dict)
    refreshes: dict[str, str] = field(default_factory=dict)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    form: dict[str, str] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    renewals: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def code_of(self, redirect_uri: str) -> str:
        """The user allows it: the address that the browser comes back to."""
        code = secrets.token_hex()
        self.codes[code] = {"redirect_uri": redirect_uri, "challenge": self.asked.get("code_challenge", "")}
        back = {"code": code, "state": self.asked["state"]} | ({"iss": self.iss} if self.iss else {})
        return f"{redirect_uri}?{urlencode(back)}"

    def grant(self, form: dict[str, str]) -> dict[str, Any] | str:
        """Tokens for a code or a refresh token, or why not."""
        if form.get("grant_type") == "refresh_token":
            user = self.refreshes.pop(form["refresh_token"], None)
            self.renewals += user is not None
            return "bad_refresh" if user is None else self._issue(user)
        code = self.codes.pop(form.get("code", ""), None)
        if code is None or code["redirect_uri"] != form["redirect_uri"]:
            return "bad_code"
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if code["challenge"] and base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != code["challenge"]:
            return "bad_code"
        return self._issue(self.user)

    def _issue(self, user: str) -> dict[str, Any]:
        access = secrets.token_hex()
        self.live[access] = user
        if not self.expires:
            return {"access_token": access}
        refresh = secrets.token_hex()
        self.refreshes[refresh] = user
        return {"access_token": access, "refresh_token": refresh, "expires_in": 3600}

    def end_all(self) -> None:
        """The user withdraws the access."""
        self.live.clear()
        self.refreshes.clear()

    def age(self) -> None:
        """Access tokens end; refresh tokens are good."""
        self.live.clear()

    def holder(self) -> str | None:
        """The user of the token in the request."""
        return self.live.get(flask.request.headers.get("Authorization", "").removeprefix("Bearer "))

    def revoke(self, access: str) -> None:
        user = self.live.get(access) or self.refreshes.get(access)
        self.live = {token: one for token, one in self.live.items() if one != user}
        self.refreshes = {token: one for token, one in self.refreshes.items() if one != user}


def _basic() -> tuple[str, str]:
    header = flask.request.headers.get("Authorization", "").removeprefix("Basic ")
    name, _, secret = base64.b64decode(header).decode().partition(":")
    return name, secret


def _app(it: ServiceServer, authorize: str) -> flask.Flask:
    app = flask.Flask("service")

    @app.get(authorize)
    def ask() -> str:
        it.asked = dict(flask.request.args)
        return CONSENT

    @app.post(authorize)
    def allow() -> Any:
        it.asked = dict(flask.request.args)
        if it.registered not in ("", it.asked["redirect_uri"]):
            return "redirect_uri_mismatch", 400
        return flask.redirect(it.code_of(it.asked["redirect_uri"]))

    return app


def github(it: ServiceServer) -> flask.Flask:
    app = _app(it, "/login/oauth/authorize")

    @app.post("/login/oauth/access_token")
    def token() -> Any:
        form = it.form = dict(flask.request.form)
        if (form.get("client_id"), form.get("client_secret")) != (CLIENT, it.client_secret):
            answer: dict[str, Any] = {"error": "incorrect_client_credentials"}
        else:
            found = it.grant(form)
            names = {"bad_code": "bad_verification_code", "bad_refresh": "bad_refresh_token"}
            answer = (
                {"error": names[found]} if isinstance(found, str) else found | {"token_type": "bearer", "scope": ""}
            )
        if not flask.request.headers["Accept"].startswith("application/json"):
            return flask.Response(urlencode(answer), mimetype="application/x-www-form-urlencoded")
        return flask.jsonify(answer)  # errors too have status 200

    @app.get("/user")
    def user() -> Any:
        it.calls.append("user")
        if (name := it.holder()) is None:
            return flask.jsonify({"message": "Bad credentials", "status": "401"}), 401
        return flask.jsonify({"login": name, "id": 1, "name": "Ana of the Tests"})

    @app.delete(f"/applications/{CLIENT}/grant")
    def end() -> Any:
        if _basic() != (CLIENT, it.client_secret):
            return flask.jsonify({"message": "Requires authentication"}), 401
        it.revoke(flask.request.get_json()["access_token"])
        return "", 204

    return app


def linear(it: ServiceServer) -> flask.Flask:
    app = _app(it, "/oauth/authorize")

    @app.post("/oauth/token")
    def token() -> Any:
        form = it.form = dict(flask.request.form)
        if (form.get("client_id"), form.get("client_secret")) != (CLIENT, it.client_secret):
            return flask.jsonify({"error": "invalid_client"}), 401
        found = it.grant(form)
        if isinstance(found, str):
            return flask.jsonify({"error": "invalid_grant", "error_description": found}), 400
        return flask.jsonify(found | {"token_type": "Bearer", "scope": it.asked["scope"].replace(",", " ")})

    @app.post("/graphql")
    def graphql() -> Any:
        it.calls.append(flask.request.get_json()["query"])
        if (name := it.holder()) is None:
            error = {"message": "Authentication required", "extensions": {"type": "AUTHENTICATION_ERROR"}}
            return flask.jsonify({"errors": [error | {"code": "AUTHENTICATION_ERROR"}]}), 400
        return flask.jsonify({"data": {"viewer": {"name": name, "email": f"{name}@example.com"}}})

    @app.post("/oauth/revoke")
    def end() -> Any:
        it.revoke(flask.request.form["token"])
        return flask.jsonify({"success": True})

    return app


def slack(it: ServiceServer) -> flask.Flask:
    app = _app(it, "/oauth/v2/authorize")

    @app.post("/api/oauth.v2.access")
    def token() -> Any:
        form = it.form = dict(flask.request.form)
        if _basic() != (quote(CLIENT), it.client_secret):
            return flask.jsonify({"ok": False, "error": "bad_client_secret"})
        if form.get("code_verifier"):
            return flask.jsonify({"ok": False, "error": "invalid_arguments"})
        found = it.grant(form)
        if isinstance(found, str):
            names = {"bad_code": "invalid_code", "bad_refresh": "invalid_refresh_token"}
            return flask.jsonify({"ok": False, "error": names[found]})
        if "refresh_token" in form:  # the refreshed token is at the top
            return flask.jsonify({"ok": True, "token_type": "user", **found})
        user = {"id": "U1", "scope": it.asked["user_scope"], "token_type": "user", **found}
        return flask.jsonify({"ok": True, "app_id": "A1", "authed_user": user, "team": {"id": "T1", "name": "Tests"}})

    @app.post("/api/auth.test")
    def test() -> Any:
        it.calls.append("auth.test")
        if (name := it.holder()) is None:
            return flask.jsonify({"ok": False, "error": "token_revoked"})
        return flask.jsonify({"ok": True, "user": name, "team": "Tests", "user_id": "U1", "team_id": "T1"})

    @app.post("/api/auth.revoke")
    def end() -> Any:
        it.revoke(flask.request.headers["Authorization"].removeprefix("Bearer "))
        return flask.jsonify({"ok": True, "revoked": True})

    return app


def google(it: ServiceServer) -> flask.Flask:
    app = _app(it, "/o/oauth2/v2/auth")

    @app.post("/token")
    def token() -> Any:
        form = it.form = dict(flask.request.form)
        if (form.get("client_id"), form.get("client_secret")) != (CLIENT, it.client_secret):
            return flask.jsonify({"error": "invalid_client"}), 401
        found = it.grant(form)
        if isinstance(found, str):
            return flask.jsonify({"error": "invalid_grant"}), 400
        if not it.is_plain and (it.asked.get("access_type"), it.asked.get("prompt")) != ("offline", "consent"):
            found.pop("refresh_token", None)
        if form["grant_type"] == "refresh_token":  # the refresh token stays, and is not sent again
            it.refreshes[form["refresh_token"]] = it.user
            it.refreshes.pop(found.pop("refresh_token"))
        return flask.jsonify(found | {"token_type": "Bearer", "scope": it.asked["scope"], "id_token": "a.b.c"})

    @app.get("/v1/userinfo")
    def userinfo() -> Any:
        it.calls.append("userinfo")
        if (name := it.holder()) is None:
            return flask.jsonify({"error": "invalid_request", "error_description": "Invalid Credentials"}), 401
        return flask.jsonify({"sub": "1", "email": f"{name}@example.com", "email_verified": True})

    @app.post("/revoke")
    def end() -> Any:
        it.revoke(flask.request.form["token"])
        return flask.jsonify({})

    return app


def generic(it: ServiceServer) -> flask.Flask:
    """The server that keeps most to the standards, without its own parameters."""
    it.is_plain = True
    return google(it)


APPS = {"github": github, "linear": linear, "slack": slack, "google": google, "generic": generic}


@contextmanager
def service_server(kind: str, **options: Any) -> Iterator[ServiceServer]:
    """The server, at work in a thread."""
    it = ServiceServer(**options)
    with threaded(APPS[kind](it)) as port:
        it.port = port
        yield it

"""OAuth 2 with an authorization server: discovery, registration, tokens for a code, renewal, revocation."""

import base64
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import quote

from outlast.base.connection_errors import ConnectionNeeded, SignInFailed, SignInRefused
from outlast.kernel.connections import rules
from outlast.kernel.connections.grants import Grant, Issued, OAuthClient, Party, PendingSignIn
from outlast.kernel.connections.rules import Metadata, Resource
from outlast.kernel.connections.services import Service, services_in
from outlast.kernel.connections.settings import ConnectionClient
from outlast.kernel.connections.web_client import WebClient
from outlast.kernel.connections.web_request import WebAnswer, WebRequest
from outlast.kernel.http.private_addresses import Allowed

NAME: Final = "Outlast"
DOCUMENT_PATH: Final = "/.well-known/outlast-mcp-client.json"
MAX_ACCOUNT_CHARS: Final = 200
CALLBACK_PATH: Final = "/connections/callback"
_PING: Final = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
_PASSING: Final = frozenset(
    [
        "temporarily_unavailable",
        "server_error",
        "slow_down",
        "fatal_error",  # this one and the next ones are Slack's
        "internal_error",
        "ratelimited",
        "request_timeout",
        "service_unavailable",
    ]
)
_OUR_FAULT: Final = frozenset(  # a wrong client or secret in the configuration ends no connection
    ["bad_client_secret", "incorrect_client_credentials", "invalid_client", "invalid_client_id", "unauthorized_client"]
)


def callback_path(service: str) -> str:
    """Where browsers come back to from a service; empty for MCP servers, which share one path. A code that comes to the
    path of one party is never sent to another (RFC 9700 §4.4)."""
    return f"{CALLBACK_PATH}/{service}" if service else CALLBACK_PATH


class OAuth:
    """This server as a client. `configured`: clients that the operator registered; `secret_of` finds a client secret
    by the name of its variable."""

    def __init__(
        self, allowed: Allowed, configured: Sequence[ConnectionClient], secret_of: Callable[[str], str | None]
    ) -> None:
        self.web, self.allowed = WebClient(allowed), allowed
        self.services = services_in(configured)
        self._configured, self._secret_of = configured, secret_of

    async def discover(self, url: str) -> tuple[Resource, Metadata]:
        """Who signs people in for the server at `url`. Raises `SignInRefused`, `SignInFailed`."""
        resource = await self._resource(url)
        for issuer in resource.issuers[:1]:  # the first is the server's choice
            for address in rules.issuer_addresses(issuer):
                answer = await self.web.get(address)
                if answer.status == 200 and answer.data:
                    metadata = rules.checked_metadata(answer.data, issuer)
                    for endpoint in (metadata.authorization, metadata.token):
                        self.web.check(endpoint)
                    return resource, metadata
        raise SignInRefused("The sign-in server has no metadata.", server=resource.issuers[0])

    async def _resource(self, url: str) -> Resource:
        asked = await self.web.send(WebRequest("POST", url, json=_PING))
        challenge = rules.challenge_parameters(asked.headers.get("WWW-Authenticate", ""))
        named = challenge.get("resource_metadata") if asked.status == 401 else None
        for address in [named] if named else rules.resource_addresses(url):
            answer = await self.web.get(address)
            if answer.status == 200 and answer.data:
                return rules.checked_resource(answer.data, url, challenge)
        raise SignInRefused(
            "The server offers no sign-in: it does not say where people get a token for it.",
            hint="Check the address. A server that needs a key gets a saved secret instead.",
            server=url,
        )

    def configured(self, metadata: Metadata) -> OAuthClient | None:
        """The client that the operator gave for this issuer."""
        for one in self._configured:
            if not one.kind and one.issuer.rstrip("/") == metadata.issuer.rstrip("/"):
                secret = self._secret_of(one.secret_env) if one.secret_env else None
                # Without the secret, which is looked up at each use: it may be changed.
                return OAuthClient(one.client_id, None, rules.method_for(metadata, secret))
        return None

    async def register(self, metadata: Metadata, redirect_uri: str) -> tuple[OAuthClient, float | None]:
        """A new client (RFC 7591), and when its secret ends, in seconds since 1970. Raises `SignInRefused`."""
        if metadata.registration is None:
            raise SignInRefused(
                "The sign-in server does not know this server and registers no clients.",
                hint="Ask the operator to register Outlast there and to name the client in [[connections]].",
                server=metadata.issuer,
            )
        method = "none" if "none" in metadata.methods else rules.method_for(metadata, "")
        wanted = client_document(None, redirect_uri, method)
        answer = await self.web.send(WebRequest("POST", metadata.registration, json=wanted))
        client_id, secret = answer.data.get("client_id"), answer.data.get("client_secret")
        if answer.status not in (200, 201) or not isinstance(client_id, str):
            raise SignInRefused("The sign-in server refused to register this server.", server=metadata.issuer)
        if not isinstance(secret, str):
            return OAuthClient(client_id), None
        given = answer.data.get("token_endpoint_auth_method")
        method = given if given in (*rules.METHODS, "none") else rules.method_for(metadata, secret)
        ends = answer.data.get("client_secret_expires_at")
        return OAuthClient(client_id, secret, method), ends if isinstance(ends, int) and ends > 0 else None

    async def exchange(self, pending: PendingSignIn, code: str, now: datetime) -> Issued:
        """The tokens for a code. Raises `SignInRefused`, `SignInFailed`."""
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": pending.redirect_uri}
        if pending.verifier:
            form["code_verifier"] = pending.verifier
        answer = await self._ask(pending.party, form)
        if _is_refusal(answer):
            raise rules.refusal(_error(answer), pending.party.issuer)
        return self._issued(pending.party, answer, now, None)

    async def renew(self, grant: Grant, now: datetime) -> Issued:
        """New tokens. Raises `ConnectionNeeded` if there are none to be had, and `SignInFailed`."""
        if grant.refresh is None:
            raise ConnectionNeeded("The connection has ended.")
        answer = await self._ask(grant.party, {"grant_type": "refresh_token", "refresh_token": grant.refresh})
        if grant.party.service and _error(answer) in _OUR_FAULT:
            text = f"The sign-in server does not accept this server's client ({_error(answer)})."
            raise SignInFailed(text, hint="Ask the operator to correct [[connections]].", server=grant.party.issuer)
        if _is_refusal(answer):
            raise ConnectionNeeded("The server ended the connection.")
        return self._issued(grant.party, answer, now, grant.refresh)

    async def revoke(self, grant: Grant) -> None:
        """End the grant at its server (RFC 7009), if that is offered. Raises as a request does."""
        party = grant.party
        if party.revocation_endpoint is None:
            return
        if (service := self.services.get(party.service)) is not None:
            secret = self._configured_secret(party) or ""
            own = service.kind.revocation_request(service.revocation, party.client_id, secret, grant.access)
            if own is not None:
                await self.web.send(own)
                return
        hint = "access_token" if grant.refresh is None else "refresh_token"
        form = {"token": grant.refresh or grant.access, "token_type_hint": hint}
        await self._post(party, party.revocation_endpoint, form)

    async def _ask(self, party: Party, form: Mapping[str, str]) -> WebAnswer:
        """An answer of the token endpoint: tokens, or a refusal for good."""
        meant = {"resource": party.resource} if party.resource else {}
        answer = await self._post(party, party.token_endpoint, {**form, **meant})
        if answer.status in (200, 400, 401, 403) and _error(answer) not in _PASSING:
            return answer
        raise SignInFailed(f"The sign-in server answered with HTTP status {answer.status}.", server=party.issuer)

    async def _post(self, party: Party, url: str, form: Mapping[str, str]) -> WebAnswer:
        secret = party.secret or self._configured_secret(party)
        if secret is None or party.method == "none":
            return await self.web.send(WebRequest("POST", url, form={**form, "client_id": party.client_id}))
        if party.method == "client_secret_post":
            known = {"client_id": party.client_id, "client_secret": secret}
            return await self.web.send(WebRequest("POST", url, form={**form, **known}))
        both = base64.b64encode(f"{quote(party.client_id, safe='')}:{quote(secret, safe='')}".encode()).decode()
        return await self.web.send(WebRequest("POST", url, f"Basic {both}", form=form))

    def party_of(self, service: Service) -> Party:
        """This server as a client of a service; its secret is looked up at each use."""
        has_secret = service.client.secret_env and self._secret_of(service.client.secret_env)
        return Party(
            issuer=service.issuer or service.authorization,
            resource="",
            token_endpoint=service.token,
            revocation_endpoint=service.revocation or None,
            client_id=service.client.client_id,
            method=service.kind.method if has_secret else "none",
            service=service.name,
        )

    async def check_client(self, service: Service) -> None:
        """Ask the token endpoint with a code that it does not know: it has to refuse the code, not the client. Raises
        `SignInRefused`, `SignInFailed`."""
        form = {"grant_type": "authorization_code", "code": "outlast-doctor", "redirect_uri": service.authorization}
        party = self.party_of(service)
        answer = await self._ask(party, form)
        if _error(answer) in _OUR_FAULT:
            text = f"{service.title} does not accept the client id and secret ({_error(answer)})."
            raise SignInRefused(text, hint="Correct client_id and secret_env in [[connections]].", server=party.issuer)
        if not _is_refusal(answer):
            raise SignInFailed(f"{service.token} is not a token endpoint.", server=service.token)

    async def account_on(self, service: Service, access: str) -> str | None:
        """The name of the account, as the service tells it to the holder of the token; None if the token is refused.
        Empty if the service has no address to ask, or names no account. Raises as a request does."""
        if not service.test:
            return ""
        answer = await self.web.send(service.kind.test_request(service.test, access))
        if service.kind.is_rejected(answer):
            return None
        if not 200 <= answer.status < 300:
            raise SignInFailed(
                f"{service.title} answered the test with HTTP status {answer.status}.", server=service.test
            )
        return (service.kind.account_in(answer.data) or "")[:MAX_ACCOUNT_CHARS]

    def _issued(self, party: Party, answer: WebAnswer, now: datetime, refresh: str | None) -> Issued:
        """The tokens of an answer; `refresh` is the earlier refresh token, which stays if there is no new one."""
        service = self.services.get(party.service)
        data = answer.data if service is None else service.kind.token_fields(answer.data)
        access, fresh, lasts_s = rules.checked_tokens(data, party.issuer)
        ends = None if lasts_s is None else now + timedelta(seconds=lasts_s)
        return Issued(Grant(party, access, fresh or refresh), ends)

    def _configured_secret(self, party: Party) -> str | None:
        if party.service:
            service = self.services.get(party.service)
            return self._secret_of(service.client.secret_env) if service and service.client.secret_env else None
        for one in self._configured:
            if not one.kind and one.client_id == party.client_id and one.issuer.rstrip("/") == party.issuer.rstrip("/"):
                return self._secret_of(one.secret_env) if one.secret_env else None
        return None


def client_document(client_id: str | None, redirect_uri: str, method: str = "none") -> dict[str, Any]:
    """This server's metadata as a client: in a registration, or in the document that its id names."""
    known = {} if client_id is None else {"client_id": client_id}
    return known | {
        "client_name": NAME,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
    }


def _is_refusal(answer: WebAnswer) -> bool:
    """GitHub and Slack refuse with status 200."""
    return answer.status != 200 or bool(_error(answer))


def _error(answer: WebAnswer) -> str:
    error = answer.data.get("error")
    return error if isinstance(error, str) else ""

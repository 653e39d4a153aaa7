"""Authentication: an API token for the control plane, a sandbox's own token or a signed address for envd."""

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any, Final, Literal

from starlette.requests import Request

from outlast.base.errors import MalformedInput, NotFound, NotSignedIn
from outlast.base.records import dataclass
from outlast.kernel.accounts import actions as accounts
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.sandboxes import hosted_actions as hosted
from outlast.kernel.sandboxes.hosted import Hosted
from outlast.kernel.services import Services
from outlast.surfaces.protocols.e2b.names import SANDBOX_ID, USER, shown_id, whole_number, workspace_of
from outlast.surfaces.protocols.e2b.runtime import E2bRuntime
from outlast_sandbox.interface import Sandbox

API_KEY: Final = "x-api-key"
ACCESS_TOKEN: Final = "x-access-token"
HEX_PREFIX: Final = "e2b_"
Operation = Literal["read", "write"]
Unary = Callable[["Inside", dict[str, Any]], Awaitable[dict[str, Any]]]
"""A call with one message in and one out."""


@dataclass(frozen=True, slots=True)
class Inside:
    """A sandbox that the request may use: its row and its running machine."""

    hosted: Hosted
    sandbox: Sandbox
    runtime: E2bRuntime

    @property
    def workspace_id(self) -> str:
        return self.hosted.workspace_id

    def open_stream(self) -> AbstractContextManager[None]:
        """Counts as a stream of the sandbox's user while it is open. Raises `RateLimited`."""
        return self.runtime.streams.taken(self.hosted.user_id)


def services_of(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


def runtime_of(request: Request) -> E2bRuntime:
    runtime: E2bRuntime = request.app.state.runtime
    return runtime


async def actor_of(request: Request) -> Actor:
    """The user of the API key. Raises `NotSignedIn`."""
    key = request.headers.get(API_KEY) or _bearer(request)
    if not key:
        raise NotSignedIn("The request has no API key.", hint="Set E2B_API_KEY to a token of: outlast tokens create.")
    actor = await accounts.actor_for_token(services_of(request), token_of(key))
    request.scope.setdefault("state", {})["user_id"] = actor.user_id
    return actor


def token_of(key: str) -> str:
    """The API token in a key. For SDKs that require `e2b_` and hexadecimal digits, the token is encoded in that
    form."""
    if key.startswith(HEX_PREFIX):
        try:
            return bytes.fromhex(key.removeprefix(HEX_PREFIX)).decode()
        except ValueError:
            return key
    return key


async def inside(request: Request) -> Inside:
    """The sandbox that the request names and has the token of. Raises `NotSignedIn`, `NotFound`, `MalformedInput`."""
    check_user(request)
    named = request.headers.get(SANDBOX_ID)
    if not named:
        raise NotFound("The request names no sandbox.", hint="Send the header E2b-Sandbox-Id.")
    return await _open(request, workspace_of(named), lambda found: _check_token(found, request))


async def inside_for_file(request: Request, operation: Operation) -> Inside:
    """As `inside`, also for a caller with an address signed for this path and operation."""
    query = request.query_params
    check_user(request, query.get("username", ""))
    if ACCESS_TOKEN in request.headers or "signature" not in query:
        return await inside(request)
    named = request.headers.get(SANDBOX_ID)

    def check(found: Hosted) -> None:
        if not _signature_fits(found, request, operation):
            raise NotSignedIn("The signature is not valid for this path.")

    moment = whole_number(query.get("signature_expiration", ""))
    if moment is not None and moment < time.time():
        raise NotSignedIn("signature is already expired", hint="")  # in envd's words
    if not named:  # the address of a file names no sandbox if all sandboxes share one host
        signed = await hosted.find_hosted(services_of(request), lambda one: _signature_fits(one, request, operation))
        if signed is None:
            raise NotSignedIn("The signature is not valid for this path, or its sandbox is not running.")
        named = shown_id(signed.workspace_id)
    return await _open(request, workspace_of(named), check)


def check_user(request: Request, named: str = "") -> None:
    """Everything inside runs as one user. Raises `NotSignedIn` (as envd does) for another."""
    authorization = request.headers.get("authorization", "")
    if not named and authorization.lower().startswith("basic "):
        try:
            named = base64.b64decode(authorization[6:]).decode().partition(":")[0]
        except (binascii.Error, UnicodeDecodeError):
            raise MalformedInput("The Authorization header is not valid.") from None
    if named not in ("", USER):
        raise NotSignedIn(
            f"invalid username: {named[:40]!r}. Everything in a sandbox runs as {USER!r}; there is no root.",
            hint=f"Leave the user out, or name {USER!r}.",
        )


async def _open(request: Request, workspace_id: str, check: Callable[[Hosted], None]) -> Inside:
    found, sandbox = await hosted.open_hosted(services_of(request), workspace_id, check)
    request.scope.setdefault("state", {})["user_id"] = found.user_id
    return Inside(found, sandbox, runtime_of(request))


def _check_token(found: Hosted, request: Request) -> None:
    given = request.headers.get(ACCESS_TOKEN, "")
    if not hmac.compare_digest(given.encode(), found.access_token.encode()):
        raise NotSignedIn("The sandbox's access token is missing or wrong.")


def _signature_fits(found: Hosted, request: Request, operation: Operation) -> bool:
    query = request.query_params
    expires = query.get("signature_expiration")
    words = [query.get("path", ""), operation, query.get("username", ""), found.access_token]
    raw = ":".join([*words, expires] if expires is not None else words)
    digest = base64.b64encode(hashlib.sha256(raw.encode("utf-8", "surrogatepass")).digest()).rstrip(b"=")
    return hmac.compare_digest(b"v1_" + digest, query.get("signature", "").encode())


def _bearer(request: Request) -> str:
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""

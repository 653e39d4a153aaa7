"""The proxy's own responses to requests that it does not pass on: what was refused, why, and what would allow it."""

import json
import re
from typing import Final

from outlast_sandbox.egress.http1 import serialise
from outlast_sandbox.egress.rules import Policy, setting_for
from outlast_sandbox.host_patterns import NotAHost

_PHRASES: Final = {
    400: b"Bad Request",
    403: b"Forbidden",
    421: b"Misdirected Request",
    431: b"Request Header Fields Too Large",
    501: b"Not Implemented",
    502: b"Bad Gateway",
    503: b"Service Unavailable",
    504: b"Gateway Timeout",
}
_UNPRINTABLE: Final = re.compile(r"[^\x20-\x7e]")
MAX_PHRASE_CHARS: Final = 200


class Refused(Exception):
    """Not passed on. `code` is stable; message and hint are for the client inside; none of them ever contains a
    secret's value."""

    def __init__(self, status: int, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.hint = status, code, message, hint

    def answer(self) -> bytes:
        """An HTTP/1.1 response that closes the connection. The message is also the status text, because most clients
        show only that for a refused CONNECT."""
        content = {"code": self.code, "message": self.message, "hint": self.hint, "from": "outlast egress"}
        body = json.dumps(content, indent=2).encode() + b"\n"
        phrase = _UNPRINTABLE.sub("?", self.message)[:MAX_PHRASE_CHARS].encode()
        headers = [
            (b"Content-Type", b"application/json"),
            (b"Content-Length", b"%d" % len(body)),
            (b"X-Outlast-Refused", self.code.encode()),
            (b"Connection", b"close"),
        ]
        return serialise(b"HTTP/1.1 %d %b" % (self.status, phrase or _PHRASES[self.status]), headers) + body


def host_refused(policy: Policy, host: str, port: int) -> Refused:
    message = f"The sandbox is not allowed to reach {host} on port {port}."
    return Refused(403, "host_refused", message, setting_for(policy, host, port))


def address_refused(host: str, address: str, port: int) -> Refused:
    return Refused(
        403,
        "address_refused",
        f"{host} resolves to {address}, which is a private or reserved address.",
        f'To allow it, set allow_private = ["{host}:{port}"] in a [[sandbox.dependencies]] table.',
    )


def own_address(host: str) -> Refused:
    return Refused(
        403,
        "address_refused",
        f"{host} resolves to an address of the server itself.",
        'To reach a service on the server, set allow_private = ["127.0.0.1:PORT"].',
    )


def not_found(host: str) -> Refused:
    hint = "Check the spelling; the server resolves names with its own resolver."
    return Refused(502, "name_not_found", f"The name {host} could not be resolved.", hint)


def unreachable(host: str, port: int, why: str) -> Refused:
    return Refused(502, "unreachable", f"{host}:{port} could not be reached: {why}.", "Try again later.")


def untrusted(host: str, why: str) -> Refused:
    return Refused(
        502,
        "untrusted",
        f"The TLS certificate of {host} was not accepted: {why}.",
        "The server trusts its system's CA certificates; set SSL_CERT_FILE on the server to use others.",
    )


def broken(host: str, why: str) -> Refused:
    return Refused(502, "answer_broken", f"The response of {host} cannot be passed on: {why}.", "")


def timed_out(host: str, what: str, seconds: float) -> Refused:
    message = f"{host} took longer than {seconds:g} s {what}."
    return Refused(504, "timed_out", message, "Try again later.")


def host_differs(requested: str, connected: str) -> Refused:
    return Refused(
        421,
        "host_differs",
        f"The request names the host {requested[:100]}, but the connection is to {connected}.",
        "Open a separate connection for each host.",
    )


def malformed(why: str, status: int = 400) -> Refused:
    return Refused(status, "malformed", f"The request cannot be passed on: {why}.", "")


def no_host(text: str, error: NotAHost) -> Refused:
    return malformed(f"{text[:100]!r} is not {error}")


def not_a_proxy_request() -> Refused:
    return Refused(
        400,
        "not_a_proxy_request",
        "This is the sandbox's egress proxy, not a server.",
        "Set it as the HTTP proxy: HTTP_PROXY and HTTPS_PROXY already name it here.",
    )


def secret_missing(name: str) -> Refused:
    return Refused(
        403,
        "secret_missing",
        f"The secret {name} has no value for the current user.",
        f"Ask the operator to set the environment variable {name} on the server, or to configure its secret lookup.",
    )


def secret_unavailable(name: str) -> Refused:
    return Refused(503, "secret_unavailable", f"The secret {name} could not be looked up.", "See the server log.")


def secret_unusable(name: str) -> Refused:
    return Refused(
        403,
        "secret_unusable",
        f"The value of the secret {name} is not valid in a header.",
        "It is empty or contains control characters, such as a trailing line break.",
    )

"""Passes requests from inside on to their hosts."""

from collections.abc import Collection, Sequence
from typing import Final, Protocol

from outlast_sandbox.egress import refusals
from outlast_sandbox.egress.http1 import Headers, MessageReader, RequestHead, end_to_end
from outlast_sandbox.egress.http_exchange import Passage
from outlast_sandbox.egress.redaction import Redactor
from outlast_sandbox.egress.rules import Policy, Target, secrets_of
from outlast_sandbox.egress.secrets import SandboxSecrets, SecretValue
from outlast_sandbox.egress.transport import Channel
from outlast_sandbox.egress.upstream import Upstreams

MAX_TARGETS: Final = 1000


class Uses(Protocol):
    """The log of secret uses."""

    async def record(
        self,
        names: Sequence[str],
        user_id: str | None,
        target: Target,
        head: RequestHead,
        status: int | None,
        own: Collection[str],
    ) -> None:
        """Record that a request carried these secrets, of which `own` are the user's; `status` None if there was no
        response. Waits while the log cannot be written: no use is left unlogged."""


class Relay:
    """Passes on the requests of one sandbox. In memory: the values that may have been sent, to be hidden in every
    response that can be read here."""

    def __init__(self, policy: Policy, secrets: SandboxSecrets, upstreams: Upstreams, uses: Uses) -> None:
        self._policy = policy
        self._secrets = secrets
        self._upstreams = upstreams
        self._uses = uses
        self._known: dict[str, set[bytes]] = {}
        self._redactor = Redactor()
        self._names: dict[Target, tuple[str, ...]] = {}

    async def pass_on(self, head: RequestHead, target: Target, reader: MessageReader, client: Channel) -> bool:
        """Answer one request whose target is allowed and whose Host is checked. True if the client's connection can
        serve another one. Raises `Refused` and `BadMessage` before the response has started, `ConnectionError`
        later."""
        reader.begin(head.body)
        names = self._names_of(target)
        headers = _towards(head, target, inspected=bool(names or self._redactor))
        used = self._secrets.named_in(headers, names) if names else []
        user_id = None
        own: list[str] = []
        if used or not all(name in self._known for name in names):
            user_id = await self._secrets.user()
            values = await self._values(names, used, user_id)
            headers = self._secrets.put_in(headers, values)
            own = [name for name, value in values.items() if value.is_own]

        async def record(status: int | None) -> None:
            if used:
                await self._uses.record(used, user_id, target, head, status, own)

        passage = Passage(head, headers, target, reader, client, self._upstreams, self._redactor, record)
        return await passage.run()

    def _names_of(self, target: Target) -> tuple[str, ...]:
        names = self._names.get(target)
        if names is None:
            if len(self._names) >= MAX_TARGETS:
                self._names.clear()
            names = self._names[target] = secrets_of(self._policy, target)
        return names

    async def _values(self, names: Sequence[str], used: Sequence[str], user_id: str | None) -> dict[str, SecretValue]:
        """The values of secrets. All secrets of the host are looked up, so that they can be hidden."""
        values: dict[str, SecretValue] = {}
        before = sum(map(len, self._known.values()))
        for name in names:
            secret = await self._secrets.value(name, user_id)
            known = self._known.setdefault(name, set())
            if secret is not None:
                known.add(secret.reveal())
            if name in used:
                if secret is None:
                    raise refusals.secret_missing(name)
                values[name] = secret
        if sum(map(len, self._known.values())) > before:
            self._redactor = Redactor(value for known in self._known.values() for value in known)
        return values


def _towards(head: RequestHead, target: Target, *, inspected: bool) -> Headers:
    """The headers for the host, with placeholders still in them."""
    dropped = {b"host"}
    if inspected:  # the response must be readable, to hide secrets in it
        dropped |= {b"accept-encoding", b"sec-websocket-extensions"}
    headers = [header for header in end_to_end(head) if header[0].lower() not in dropped]
    if inspected:
        headers.append((b"Accept-Encoding", b"identity"))
    if head.upgrade == b"websocket":
        headers += [(b"Connection", b"Upgrade"), (b"Upgrade", b"websocket")]
    return [(b"Host", target.authority.encode()), *headers]

"""The hosts that a sandbox may reach, and the secrets of each host, as pure decisions."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from outlast_sandbox.addresses import is_forbidden
from outlast_sandbox.host_patterns import HostPattern, NotAHost, is_address, parse_pattern, plain_host

TLS_PORT: Final = 443
WEB_PORT: Final = 80
LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "::1")
_IN_127: Final = re.compile(r"127\.[0-9.]+\Z")


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a request: a plain host (see `plain_host`), its port, and True for TLS."""

    host: str
    port: int
    encrypted: bool

    @property
    def authority(self) -> str:
        """The target as in a Host header: with the port only if it is not the default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = TLS_PORT if self.encrypted else WEB_PORT
        return host if self.port == usual else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class SecretRule:
    """A secret by its name (the environment variable that holds its placeholder inside), the hosts that it may be
    sent to over TLS, and the private addresses that it may be sent to, also without TLS."""

    name: str
    hosts: tuple[HostPattern, ...]
    private: frozenset[tuple[str, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy of one sandbox: `allow` are hosts without secrets, `private` the private addresses that are
    allowed."""

    allow: tuple[HostPattern, ...] = ()
    secrets: tuple[SecretRule, ...] = ()
    private: frozenset[tuple[str, int]] = frozenset()

    @property
    def opens(self) -> bool:
        """True if any host may be reached."""
        return bool(self.allow or self.private or any(rule.hosts for rule in self.secrets))


def may_reach(policy: Policy, host: str, port: int) -> bool:
    """True if the host's name may be reached on this port; `may_connect` checks its address."""
    if (host, port) in policy.private or leads_inside(policy, host, port):
        return True
    patterns = [*policy.allow, *(pattern for rule in policy.secrets for pattern in rule.hosts)]
    return any(pattern.matches(host, port) for pattern in patterns)


def may_connect(policy: Policy, host: str, address: str, port: int) -> bool:
    """True if this address of the host may be connected to."""
    if not is_forbidden(address):
        return True
    return (host, port) in policy.private or (plain_host(address), port) in policy.private


def secrets_of(policy: Policy, target: Target) -> tuple[str, ...]:
    """Names of the secrets that may be sent there. Without TLS only to an address in `private`."""
    return tuple(
        rule.name
        for rule in policy.secrets
        if (target.host, target.port) in rule.private
        or (
            target.encrypted
            and not is_loopback(target.host)
            and any(pattern.matches(target.host, target.port) for pattern in rule.hosts)
        )
    )


def leads_inside(policy: Policy, host: str, port: int) -> bool:
    """True if a loopback address means the sandbox's own (its proxy settings sent a client here), and not the server's,
    which `private` must name."""
    return is_loopback(host) and (host, port) not in policy.private


def is_loopback(host: str) -> bool:
    """True if a plain host is a loopback name or address, of the sandbox or the server."""
    return host in ("localhost", "::1") or host.endswith(".localhost") or _IN_127.match(host) is not None


def setting_for(policy: Policy, host: str, port: int) -> str:
    """The setting with which an operator allows a host that `may_reach` refuses."""
    named = f"[{host}]" if ":" in host else host
    other = next((p for p in _all_patterns(policy) if p.port is None and p.matches(host, TLS_PORT)), None)
    pattern = named if port in (WEB_PORT, TLS_PORT) else f"{named}:{port}"
    if other is not None:
        return f'{other} is allowed on ports 80 and 443 only; add "{pattern}" for this port.'
    if is_address(host) and is_forbidden(host):
        return f'Private address: set allow_private = ["{named}:{port}"] in a [[sandbox.dependencies]] table.'
    return (
        f'The operator can add "{pattern}" to allow_hosts in the section [sandbox], or to the hosts of the '
        "[[sandbox.dependencies]] table that needs it."
    )


def same_authority(text: str, target: Target) -> bool:
    """True if a Host header, or the authority of an address, names the target."""
    if text == target.authority:
        return True
    try:
        return read_authority(text, target.encrypted) == (target.host, target.port)
    except NotAHost:
        return False


def read_authority(text: str, encrypted: bool) -> tuple[str, int]:
    """Host and port of a Host header or an address; raises `NotAHost`, also for more than 260 characters."""
    pattern = parse_pattern(text)
    if pattern.below:
        return "", 0
    return pattern.host, pattern.port or (TLS_PORT if encrypted else WEB_PORT)


def direct_names(policy: Policy) -> list[str]:
    """The loopback names that programs inside may reach without the proxy: all that `private` does not name."""
    excepted = {host for host, _ in policy.private}
    return [name for name in LOOPBACK_NAMES if name not in excepted]


def names(policy: Policy) -> Sequence[str]:
    """The names of all secrets."""
    return [rule.name for rule in policy.secrets]


def _all_patterns(policy: Policy) -> Iterable[HostPattern]:
    yield from policy.allow
    for rule in policy.secrets:
        yield from rule.hosts

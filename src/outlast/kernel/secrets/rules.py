"""Names and hosts of saved secrets. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from outlast.base.errors import MalformedInput
from outlast.base.secret_errors import SecretHostRefused
from outlast_sandbox.host_patterns import HostPattern, NotAHost, parse_pattern

MAX_HOSTS: Final = 20
_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]{0,79}\Z")
_RESERVED: Final = frozenset(
    [
        "ALL_PROXY",
        "HOME",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "LANG",
        "NODE_EXTRA_CA_CERTS",
        "NODE_OPTIONS",
        "NODE_PATH",
        "NODE_USE_ENV_PROXY",
        "NO_PROXY",
        "PATH",
        "PWD",
        "SHELL",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "TERM",
        "TMPDIR",
        "USER",
    ]
)
_RESERVED_STARTS: Final = ("DENO_", "LD_", "OUTLAST_", "PYTHON")  # programs read these


def checked_name(name: str) -> str:
    """The name of an environment variable. Raises `MalformedInput`."""
    if not _NAME.match(name):
        raise MalformedInput(
            "A secret's name is that of an environment variable: capital letters, digits and underscores, at most 80.",
            hint="For example LINEAR_API_KEY.",
            field="name",
        )
    if name in _RESERVED or name.startswith(_RESERVED_STARTS):
        raise MalformedInput(f"Programs in sandboxes read {name} for themselves.", hint="Choose another.", field="name")
    return name


def checked_hosts(hosts: Sequence[str], allowed: Sequence[str]) -> list[str]:
    """The hosts in one form, each once. `allowed`: the patterns of the setting. Raises `MalformedInput`,
    `SecretHostRefused`."""
    if not 0 < len(hosts) <= MAX_HOSTS:
        raise MalformedInput(f"Name 1 to {MAX_HOSTS} hosts that the secret is for.", field="hosts")
    return list(dict.fromkeys(str(_checked(text, [parse_pattern(one) for one in allowed])) for text in hosts))


def _checked(text: str, allowed: Sequence[HostPattern]) -> HostPattern:
    try:
        found = parse_pattern(text)
    except NotAHost as error:
        raise MalformedInput(f"{text[:100]!r} is not a host: write {error}.", field="hosts") from None
    if found.is_everything:
        raise MalformedInput("A secret is for some hosts, not for all.", hint="Name them.", field="hosts")
    if not any(_covers(one, found) for one in allowed):
        raise SecretHostRefused(f"Saved secrets may not be for {found} on this server.", host=str(found))
    return found


def _covers(allowed: HostPattern, asked: HostPattern) -> bool:
    """True if each host that `asked` matches is one that `allowed` matches."""
    if allowed.port not in (None, asked.port):
        return False
    if allowed.host == asked.host:
        return allowed.below == asked.below
    return allowed.is_everything or (allowed.below and asked.host.endswith(f".{allowed.host}"))

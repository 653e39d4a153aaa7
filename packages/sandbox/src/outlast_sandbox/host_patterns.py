"""Host names in settings and in requests, converted to one form."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final

WEB_PORTS: Final = frozenset({80, 443})
MAX_CHARS: Final = 253
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\Z")
_ENDS_IN_NUMBER: Final = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\Z")


class NotAHost(ValueError):
    """The text is not a host; its message says what was expected."""


@dataclass(frozen=True, slots=True)
class HostPattern:
    """`HOST`, `*.HOST` (any name below it, not itself) or `*` (any host), each with an optional `:PORT`. Without a
    port, ports 80 and 443 match."""

    host: str
    below: bool = False
    port: int | None = None

    def matches(self, host: str, port: int) -> bool:
        """`host` is in the form that `plain_host` returns."""
        if port != self.port and (self.port is not None or port not in WEB_PORTS):
            return False
        if not self.below:
            return host == self.host
        return not self.host or (host.endswith("." + self.host) and not is_address(host))

    @property
    def is_everything(self) -> bool:
        return self.below and not self.host

    def __str__(self) -> str:
        name = ("*." if self.host else "*") + self.host if self.below else self.host
        name = f"[{name}]" if ":" in name else name
        return name if self.port is None else f"{name}:{self.port}"


def parse_pattern(text: str) -> HostPattern:
    """Raises `NotAHost`, also for a host of more than `MAX_CHARS`."""
    name, port = split_port(text.strip())
    if name == "*":
        return HostPattern("", True, port)
    if name.startswith("*."):
        host = plain_host(name[2:])
        if is_address(host):
            raise NotAHost("a name after '*.'")
        return HostPattern(host, True, port)
    return HostPattern(plain_host(name), False, port)


def parse_host_port(text: str) -> tuple[str, int]:
    """`HOST:PORT`; the port is required. Raises `NotAHost`."""
    name, port = split_port(text.strip())
    if port is None:
        raise NotAHost("HOST:PORT, such as 127.0.0.1:8080")
    return plain_host(name), port


def split_port(text: str) -> tuple[str, int | None]:
    """The host, without the brackets of an IPv6 address, and the port if one is given. Raises `NotAHost`."""
    if text.startswith("["):
        name, closing, rest = text[1:].partition("]")
        if not closing or (rest and not rest.startswith(":")) or ":" not in name:
            raise NotAHost("an IPv6 address in brackets, with an optional :PORT")
        return name, _port(rest[1:]) if rest else None
    name, colon, port = text.partition(":")
    if ":" in port:
        raise NotAHost("an IPv6 address in brackets")
    return name, _port(port) if colon else None


def plain_host(name: str) -> str:
    """Lower case, without a trailing dot, names in ASCII (IDNA), addresses in their shortest form. Spellings of
    addresses that only some programs accept (127.1, 0x7f.0.0.1, 2130706433, zones) are refused, as are texts of more
    than `MAX_CHARS`. Raises `NotAHost`."""
    if len(name) > MAX_CHARS + 1:
        raise NotAHost("a host name")
    name = name.lower()
    if ":" in name:
        return _address(name)
    name = name.removesuffix(".")
    if not name.isascii():
        try:
            name = name.encode("idna").decode("ascii").lower()
        except UnicodeError:
            raise NotAHost("a host name") from None
    if _ENDS_IN_NUMBER.match(name):
        return _address(name)
    if len(name) > MAX_CHARS or not all(_LABEL.match(label) for label in name.split(".")):
        raise NotAHost("a host name")
    return name


def is_address(host: str) -> bool:
    """True if a plain host is an IP address."""
    return ":" in host or _ENDS_IN_NUMBER.match(host) is not None


def _address(text: str) -> str:
    try:
        if "%" in text:
            raise ValueError(text)
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise NotAHost("an IP address in its usual form, without a zone") from None


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 0 < int(text) < 65536):
        raise NotAHost("a port from 1 to 65535 after the colon")
    return int(text)

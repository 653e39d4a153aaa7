"""Where a container engine is: its socket on this machine, or its API on another one, over TLS or SSH."""

import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from outlast_sandbox.errors import InvalidSetting, StartRefused

CONNECT_S: Final = 15.0
DEFAULT_PORT: Final = 2376  # Docker's, with TLS


@dataclass(frozen=True, slots=True)
class UnixAddress:
    """The engine's socket on this machine."""

    path: Path
    base_url = "http://engine"
    connect_s = CONNECT_S

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files: `ca` signed the engine's certificate ("" trusts the system's authorities), `cert` and `key` are this
    server's, which the engine asks for."""

    ca: str = ""
    cert: str = ""
    key: str = ""

    def context(self) -> ssl.SSLContext:
        """Raises `StartRefused` if a file is missing or does not hold what it should; its content is never shown."""
        try:
            context = ssl.create_default_context(cafile=self.ca or None)
            if self.cert:
                context.load_cert_chain(self.cert, self.key or None)
        except (OSError, ssl.SSLError) as error:
            files = ", ".join(path for path in (self.ca, self.cert, self.key) if path)
            raise StartRefused(f"The TLS files of a sandbox host cannot be used ({files}): {error}") from error
        return context


@dataclass(frozen=True, slots=True)
class TcpAddress:
    """The engine's API on a port; `tls` is None only on this machine's loopback."""

    host: str
    port: int
    tls: TlsFiles | None
    connect_s = CONNECT_S

    @property
    def base_url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"

    def __str__(self) -> str:
        return self.base_url


@dataclass(frozen=True, slots=True)
class SshAddress:
    """The engine behind an SSH server: the program `ssh` is started for each connection, with the keys and settings
    of the server's user."""

    host: str
    user: str = ""
    port: int = 0
    base_url = "http://engine"
    connect_s = 2 * CONNECT_S

    @property
    def words(self) -> list[str]:
        """The command line of one connection."""
        alive = ["-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=2"]
        port = ["-p", str(self.port)] if self.port else []
        user = ["-l", self.user] if self.user else []
        quiet = ["-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={int(CONNECT_S)}"]
        return ["ssh", *quiet, *alive, *port, *user, "--", self.host, _DIAL]

    def __str__(self) -> str:
        at = f"{self.user}@" if self.user else ""
        return f"ssh://{at}{self.host}{f':{self.port}' if self.port else ''}"


_DIAL: Final = "if command -v docker >/dev/null; then exec docker system dial-stdio; fi; exec podman system dial-stdio"
Address = UnixAddress | TcpAddress | SshAddress


def read_address(url: str, tls: TlsFiles, setting: str) -> Address:
    """The address that a setting names: `unix:///path`, `tcp://host:port` or `ssh://user@host:port`. Raises
    `InvalidSetting`: an unknown kind, a password, an engine on another machine without TLS."""
    parts, port = urlsplit(url), _port(url, setting)
    host, user = parts.hostname or "", parts.username or ""
    if parts.password:
        raise _wrong(setting, "a password does not belong into an address; use a key")
    if parts.scheme == "unix" and parts.path:
        return UnixAddress(Path(parts.path))
    if not host or host.startswith("-") or user.startswith("-"):
        raise _wrong(setting, f"{url!r} is none of unix:///path, tcp://host:port, ssh://user@host")
    if parts.scheme == "ssh":
        return SshAddress(host, user, port)
    if parts.scheme != "tcp":
        raise _wrong(setting, f"unknown kind of address {parts.scheme!r}; known: unix, tcp, ssh")
    asked = bool(tls.ca or tls.cert)
    if not asked and not _is_loopback(host):
        raise _wrong(
            setting,
            "an engine on another machine needs TLS with a certificate of this server's: access to it is equal to root"
            " there. Set tls_ca, tls_cert and tls_key, or use ssh://",
        )
    return TcpAddress(host, port or DEFAULT_PORT, tls if asked else None)


def _port(url: str, setting: str) -> int:
    try:
        return urlsplit(url).port or 0
    except ValueError as error:
        raise _wrong(setting, f"{url!r} has no valid port") from error


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _wrong(setting: str, why: str) -> InvalidSetting:
    return InvalidSetting(
        f"{setting}: {why}.", hint="docs/guides/sandbox-providers.md explains sandbox hosts.", setting=setting
    )

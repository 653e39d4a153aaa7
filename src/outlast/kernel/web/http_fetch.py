"""Fetches documents over HTTP within rate limits and robots.txt. No URL is trusted, from any source.

The fetcher resolves the host name, checks the resulting address and connects to exactly that address. Private addresses
are refused unless allowed. Each redirect goes through the same checks.
"""

import re
import socket
import urllib.robotparser
from collections import defaultdict
from outlast.base.records import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit, urlunsplit

import anyio

from outlast.base.clock import Clock
from outlast.base.lazy_module import LazyModule
from outlast.kernel.http.private_addresses import NONE, Allowed, PrivateAddress, may_reach, resolved
from outlast.kernel.models.failures import retry_after_s
from outlast.kernel.models.providers.connections import proxy_for
from outlast_sandbox.host_patterns import NotAHost, is_address, plain_host

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = LazyModule("aiohttp")

AGENT: Final = "Outlast"
PER_HOST: Final = 2  # requests to one host at a time
MAX_REDIRECTS: Final = 5
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
ROBOTS_BYTES: Final = 100_000
_CHARSET: Final = re.compile(
    r"us-ascii|ascii|utf-?(?:8|16|32)(?:-?[bl]e)?|utf-8-sig|iso-?8859-?\d{1,2}|latin-?1|windows-?125\d|cp125\d"
    r"|gb(?:2312|k|18030)|big5(?:-?hkscs)?|euc-?(?:jp|kr)|shift[-_]?jis|koi8-[rut]",
    re.IGNORECASE,
)
"""Names of text encodings. Python's codecs include others, some of which decompress."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What a fetcher tells others: `purpose` is in its User-Agent; `too_large` and `private` are added to refusals, to
    say which setting allows more."""

    purpose: str = ""
    too_large: str = ""
    private: str = ""


class NotRead(Exception):
    """A document cannot be read; the message gives the reason, for people. `retry_after_s`: the host's requested
    delay. `gone`: the host says that the document does not exist."""

    def __init__(self, message: str, *, retry_after_s: float | None = None, gone: bool = False) -> None:
        super().__init__(message)
        self.retry_after_s, self.gone = retry_after_s, gone


@dataclass(frozen=True, slots=True)
class Answer:
    """A document: `url` is its final address. `unchanged`: since `etag` or `modified`, and `body` is
    empty."""

    url: str
    body: bytes
    content_type: str = ""
    charset: str = ""
    etag: str | None = None
    modified: str | None = None
    unchanged: bool = False

    def text(self) -> str:
        """The text, decoded as declared, or as UTF-8; invalid bytes are replaced."""
        try:
            if _CHARSET.fullmatch(self.charset.replace("_", "-")):
                return self.body.decode(self.charset, "replace")
        except (LookupError, UnicodeError):
            pass
        return self.body.decode("utf-8", "replace")


class Fetcher:
    """One per server. Holds connections and the number of requests per host in memory; `aclose` closes them."""

    def __init__(self, timeout_s: float, clock: Clock, wording: Wording = Wording()) -> None:  # noqa: B008 - frozen
        """`timeout_s`: the longest wait for one address."""
        self._timeout_s, self._clock, self._wording = timeout_s, clock, wording
        self._sessions: dict[tuple[Allowed, str | None], aiohttp.ClientSession] = {}
        self._at_work: defaultdict[str, anyio.Semaphore] = defaultdict(lambda: anyio.Semaphore(PER_HOST))

    async def get(
        self,
        url: str,
        most_bytes: int,
        *,
        allowed: Allowed = NONE,
        etag: str | None = None,
        modified: str | None = None,
        accept: str = "text/markdown, text/plain, text/html;q=0.8, */*;q=0.5",
    ) -> Answer:
        """The document at an address, at most `most_bytes` long. `etag` and `modified` are those of the last answer:
        the host may then report that nothing changed. Raises `NotRead`. A cancelled call leaves nothing behind."""
        headers = {"Accept": accept, "If-None-Match": etag, "If-Modified-Since": modified}
        try:
            return await self._follow(url, most_bytes, allowed, {name: one for name, one in headers.items() if one})
        except TimeoutError:
            raise NotRead(f"{url} did not answer within {self._timeout_s:g} s") from None
        except PrivateAddress as error:
            raise _private(error, self._wording.private) from None
        except aiohttp.ClientConnectorError as error:
            inner = error.os_error
            if isinstance(inner, PrivateAddress):
                raise _private(inner, self._wording.private) from None
            raise NotRead(f"{url} cannot be reached: {inner.strerror or inner}") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise NotRead(f"{url} cannot be read: {type(error).__name__}: {error}") from None

    async def robots(self, url: str, allowed: Allowed) -> urllib.robotparser.RobotFileParser:
        """The rules for crawlers of this host; empty if it has none."""
        parts = urlsplit(url)
        rules = urllib.robotparser.RobotFileParser()
        try:
            where = urlunsplit((parts.scheme, parts.netloc, "/robots.txt", "", ""))
            rules.parse((await self.get(where, ROBOTS_BYTES, allowed=allowed)).text().splitlines())
        except NotRead:
            rules.parse([])
        return rules

    async def aclose(self) -> None:
        """Close every connection. Repeatable."""
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            await session.close()

    async def _follow(self, url: str, most_bytes: int, allowed: Allowed, headers: dict[str, str]) -> Answer:
        for _ in range(MAX_REDIRECTS + 1):
            host, port = checked_address(url, allowed, self._wording.private)
            proxy = proxy_for(url)
            if proxy is not None:
                await _check_before_proxy(host, port, allowed)
            async with self._at_work[host]:
                with anyio.fail_after(self._timeout_s):
                    async with self._session(allowed, proxy).get(url, headers=headers, allow_redirects=False) as answer:
                        if answer.status not in REDIRECTS:
                            return await self._read(answer, url, most_bytes)
                        url = _next(url, answer.headers.get("Location", ""))
        raise NotRead(f"{url} has more than {MAX_REDIRECTS} redirects")

    async def _read(self, answer: "aiohttp.ClientResponse", url: str, most_bytes: int) -> Answer:
        etag, modified = answer.headers.get("ETag"), answer.headers.get("Last-Modified")
        if answer.status == 304:
            return Answer(url, b"", etag=etag, modified=modified, unchanged=True)
        if answer.status != 200:
            wait_s = retry_after_s(answer.headers, self._clock.now()) if answer.status in (429, 503) else None
            raise NotRead(f"{url} answered {answer.status}", retry_after_s=wait_s, gone=answer.status in (404, 410))
        if (answer.content_length or 0) > most_bytes:
            raise too_large(url, most_bytes, self._wording.too_large)
        body = bytearray()
        async for block in answer.content.iter_chunked(65_536):
            body += block
            if len(body) > most_bytes:
                raise too_large(url, most_bytes, self._wording.too_large)
        return Answer(url, bytes(body), answer.content_type, answer.charset or "", etag, modified)

    def _session(self, allowed: Allowed, proxy: str | None) -> "aiohttp.ClientSession":
        """One session for each set of exceptions; with a proxy, only the proxy is connected to."""
        session = self._sessions.get((allowed, proxy))
        if session is None or session.closed:
            from outlast.kernel.http.http_resolver import Resolver

            resolver = Resolver(allowed) if proxy is None else aiohttp.ThreadedResolver()
            session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False, keepalive_timeout=30),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": f"{AGENT}/{version('outlast')} ({self._wording.purpose or 'reader'})"},
                proxy=proxy,
                timeout=aiohttp.ClientTimeout(total=None),
            )
            self._sessions[allowed, proxy] = session
        return session


def checked_address(url: str, allowed: Allowed = NONE, private_hint: str = "") -> tuple[str, int]:
    """Host and port of a permitted address. Raises `NotRead` if it is not a web address, contains a
    password, or is private."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        host = plain_host(parts.hostname or "")
    except (ValueError, NotAHost) as error:
        raise NotRead(f"{url[:200]!r} is not an address: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise NotRead(f"{url[:200]!r} is not an address that begins with http:// or https://")
    if parts.username or parts.password:
        raise NotRead("an address must not contain a user name or password, because people can see it")
    if is_address(host) and not may_reach(host, host, port, allowed):
        raise _private(PrivateAddress(host, host), private_hint)
    return host, port


def _private(error: PrivateAddress, hint: str) -> NotRead:
    return NotRead(f"{error}: {hint}" if hint else str(error))


async def _check_before_proxy(host: str, port: int, allowed: Allowed) -> None:
    """A proxy resolves names itself; a name that is private here is not requested through it either."""
    try:
        await resolved(host, port, socket.AF_UNSPEC, allowed)
    except PrivateAddress:
        raise
    except OSError:  # the proxy may know the name
        return


def _next(url: str, location: str) -> str:
    if not location:
        raise NotRead(f"{url} redirects without a target")
    target = urljoin(url, location)
    if url.startswith("https://") and not target.startswith("https://"):
        raise NotRead(f"{url} redirects to an address without TLS: {target[:200]}")
    return target


def too_large(what: str, most_bytes: int, setting: str = "") -> NotRead:
    return NotRead(f"{what} is larger than {most_bytes:,} bytes{f' ({setting})' if setting else ''}")

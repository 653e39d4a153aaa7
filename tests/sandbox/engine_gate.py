"""A host elsewhere, for tests: a TLS port in front of an engine's socket, which can be shut as a network fails."""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import ssl
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from outlast_sandbox.providers.setup import SandboxHost

DAY = dt.timedelta(days=1)


@dataclass(frozen=True)
class Certificates:
    """Files of an authority, and of the certificates that it signed for a host and for a server."""

    folder: Path

    def path(self, name: str) -> str:
        return str(self.folder / name)


def make_certificates(folder: Path) -> Certificates:
    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority = _signed("authority", authority_key, None, authority_key)
    (folder / "ca.pem").write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    for name in ("host", "server"):
        key = ec.generate_private_key(ec.SECP256R1())
        made = _signed(name, key, authority, authority_key)
        (folder / f"{name}.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
        plain = serialization.NoEncryption()
        private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
        (folder / f"{name}.key").write_bytes(private)
    return Certificates(folder)


def _signed(
    name: str, key: ec.EllipticCurvePrivateKey, issuer: x509.Certificate | None, issuer_key: ec.EllipticCurvePrivateKey
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )
    if issuer is None:
        usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
        builder = builder.add_extension(usage, critical=True)
    else:
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        builder = builder.add_extension(x509.SubjectAlternativeName([address]), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


class EngineGate:
    """Serves on a port of loopback while it is entered, in a thread of its own; without certificates in plain TCP."""

    def __init__(self, engine: Path, certificates: Certificates | None) -> None:
        self._engine = engine
        self._certificates = certificates
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._copies: set[asyncio.Task[None]] = set()
        self.port = 0
        self.taken = 0  # connections

    def host(self, name: str, **more: Any) -> SandboxHost:
        files = self._certificates
        url = f"tcp://127.0.0.1:{self.port}"
        if files is None:
            return SandboxHost(name=name, url=url, **more)
        own = {
            "tls_ca": files.path("ca.pem"),
            "tls_cert": files.path("server.pem"),
            "tls_key": files.path("server.key"),
        }
        return SandboxHost(name=name, url=url, **{**own, **more})

    def __enter__(self) -> Self:
        self._thread.start()
        self.open()
        return self

    def __exit__(self, *_error: object) -> None:
        self.shut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def open(self) -> None:
        """Serve, on the same port as before. Idempotent."""
        if self._server is None:
            self._run(self._serve())

    def shut(self) -> None:
        """Take no connection, and cut those there are. Idempotent."""
        self._run(self._stop())

    def cut(self) -> None:
        """Cut the connections there are; new ones are taken."""
        self._run(self._drop())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _serve(self) -> None:
        context = None
        if self._certificates is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self._certificates.path("host.pem"), self._certificates.path("host.key"))
            context.load_verify_locations(self._certificates.path("ca.pem"))
            context.verify_mode = ssl.CERT_REQUIRED
        self._server = await asyncio.start_server(self._take, "127.0.0.1", self.port, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        await self._drop()

    async def _drop(self) -> None:
        for writer in list(self._open):
            writer.transport.abort()
        copies = list(self._copies)
        for copy in copies:
            copy.cancel()
        for copy in copies:
            await asyncio.wait([copy])

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.taken += 1
        inner_reader, inner_writer = await asyncio.open_unix_connection(str(self._engine))
        self._open |= {writer, inner_writer}
        ways = ((reader, inner_writer), (inner_reader, writer))
        pair = [self._loop.create_task(_copy(*way)) for way in ways]
        self._copies |= set(pair)
        await asyncio.wait(pair, return_when=asyncio.FIRST_COMPLETED)
        for copy in pair:
            copy.cancel()
        self._copies -= set(pair)
        for one in (writer, inner_writer):
            self._open.discard(one)
            one.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        return

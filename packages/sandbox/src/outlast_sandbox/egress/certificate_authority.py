"""A certificate authority for one sandbox, trusted by everything inside and by nothing else.

While the sandbox lives, its key is in the server's data directory, readable only by the server; it is never inside.
Leaf keys exist in memory only.
"""

import datetime as dt
import ipaddress
import os
import ssl
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from outlast_sandbox.host_patterns import is_address

AUTHORITY_LIFE: Final = dt.timedelta(days=365)
LEAF_LIFE: Final = dt.timedelta(days=2)
RENEWED_BEFORE: Final = dt.timedelta(hours=12)
CLOCKS_DIFFER: Final = dt.timedelta(days=1)
MAX_LEAVES: Final = 256
_USAGE: Final = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


class Authority:
    """Signs certificates for the hosts that one sandbox connects to. The most recent ones are kept in memory."""

    def __init__(self, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
        self._key = key
        self._certificate = certificate
        self._changing = threading.Lock()
        self._leaves: OrderedDict[str, tuple[dt.datetime, ssl.SSLContext]] = OrderedDict()

    @classmethod
    def fresh(cls, sandbox_id: str) -> "Authority":
        """A new authority; takes about a millisecond."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Outlast egress of {sandbox_id}"[:64])])
        builder = _certificate(name, name, key.public_key(), AUTHORITY_LIFE)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        builder = builder.add_extension(_usage("key_cert_sign", "crl_sign"), critical=True)
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        return cls(key, builder.sign(key, hashes.SHA256()))

    @property
    def pem(self) -> str:
        """Its certificate, without the key."""
        return self._certificate.public_bytes(serialization.Encoding.PEM).decode()

    def context(self, host: str, now: dt.datetime) -> ssl.SSLContext:
        """The TLS context for a server of this name. A client that requests another name is refused. Takes
        milliseconds: call it in a worker thread if `ready` returns None."""
        found = self.ready(host, now)
        if found is None:
            found = self._context(host)
            with self._changing:
                self._leaves[host] = now + LEAF_LIFE - RENEWED_BEFORE, found
                self._leaves.move_to_end(host)
                while len(self._leaves) > MAX_LEAVES:
                    self._leaves.popitem(last=False)
        return found

    def ready(self, host: str, now: dt.datetime) -> ssl.SSLContext | None:
        """The context if it was created before, without waiting."""
        entry = self._leaves.get(host)
        return None if entry is None or entry[0] < now else entry[1]

    def to_pem(self) -> bytes:
        """Key and certificate, to be stored where only the server can read them."""
        return (
            self._key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + self.pem.encode()
        )

    @classmethod
    def from_pem(cls, data: bytes) -> "Authority":
        """Raises `ValueError`."""
        key = serialization.load_pem_private_key(data, None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError("not an elliptic curve key")
        return cls(key, x509.load_pem_x509_certificate(data))

    def _context(self, host: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        context.options |= ssl.OP_NO_RENEGOTIATION
        context.sni_callback = _only(host)
        _load(context, self.leaf(host))
        return context

    def leaf(self, host: str) -> bytes:
        """A certificate for the host with the process's leaf key, as PEM, the key first."""
        key, key_pem = _leaf_key()
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host[:64])])
        builder = _certificate(self._certificate.subject, name, key.public_key(), LEAF_LIFE)
        other = x509.IPAddress(ipaddress.ip_address(host)) if is_address(host) else x509.DNSName(host)
        authority = self._certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
        for extension, critical in (
            (x509.BasicConstraints(ca=False, path_length=None), True),
            (_usage("digital_signature"), True),
            (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False),
            (x509.SubjectAlternativeName([other]), False),
            (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
            (x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(authority), False),
        ):
            builder = builder.add_extension(extension, critical=critical)
        leaf = builder.sign(self._key, hashes.SHA256())
        return key_pem + leaf.public_bytes(serialization.Encoding.PEM)


def _only(host: str) -> Callable[[ssl.SSLObject, str | None, ssl.SSLContext], int | None]:
    def check(_tls: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> int | None:
        wrong = name is not None and name.lower().removesuffix(".") != host
        return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME if wrong else None

    return check


def _certificate(
    issuer: x509.Name, subject: x509.Name, key: ec.EllipticCurvePublicKey, life: dt.timedelta
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder().issuer_name(issuer).subject_name(subject).public_key(key)
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(now - CLOCKS_DIFFER).not_valid_after(now + life)


def _usage(*wanted: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{name: name in wanted for name in _USAGE})


@lru_cache(maxsize=1)
def _leaf_key() -> tuple[ec.EllipticCurvePrivateKey, bytes]:
    """One key for all leaves of this process: it only proves that the peer is the proxy."""
    key = ec.generate_private_key(ec.SECP256R1())
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return key, key.private_bytes(encoding, form, serialization.NoEncryption())


def _load(context: ssl.SSLContext, pem: bytes) -> None:
    """The standard library loads certificates from files only: an in-memory file is used."""
    file = os.memfd_create("leaf", os.MFD_CLOEXEC)
    try:
        os.write(file, pem)
        context.load_cert_chain(f"/proc/self/fd/{file}")
    finally:
        os.close(file)

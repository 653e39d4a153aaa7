"""A sandbox's own authority: what it signs, and where its key lies."""

from __future__ import annotations

import datetime as dt
import subprocess
from pathlib import Path

import pytest
from cryptography import x509

from outlast_sandbox.egress.authority_store import Authorities
from outlast_sandbox.egress.certificate_authority import LEAF_LIFE, Authority

NOW = dt.datetime.now(dt.UTC)


def leaf_of(authority: Authority, host: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(authority.leaf(host).split(b"-----END PRIVATE KEY-----\n")[1])


@pytest.mark.parametrize("host", ["api.example.com", "127.0.0.1", "::1", "a" * 60 + ".example.com"])
def test_a_leaf_is_one_that_strict_clients_accept(tmp_path: Path, host: str) -> None:
    authority = Authority.fresh("sbx_1")
    (tmp_path / "ca.pem").write_text(authority.pem)
    (tmp_path / "leaf.pem").write_bytes(authority.leaf(host))
    check = ["openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", str(tmp_path / "ca.pem")]
    kind = "-verify_ip" if ":" in host or host[0].isdigit() else "-verify_hostname"
    subprocess.run([*check, kind, host, str(tmp_path / "leaf.pem")], check=True, capture_output=True)
    leaf = leaf_of(authority, host)
    assert leaf.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier
    assert leaf.not_valid_after_utc - dt.datetime.now(dt.UTC) <= LEAF_LIFE


def test_an_authority_can_sign_hosts_and_no_further_authority() -> None:
    certificate = x509.load_pem_x509_certificate(Authority.fresh("sbx_1").pem.encode())
    constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    assert constraints.critical
    assert (constraints.value.ca, constraints.value.path_length) == (True, 0)


def test_leaves_are_kept_for_their_host_and_renewed_in_time() -> None:
    authority = Authority.fresh("sbx_1")
    first = authority.context("a.example", NOW)
    assert authority.context("a.example", NOW) is first
    assert authority.context("b.example", NOW) is not first
    assert authority.context("a.example", NOW + LEAF_LIFE) is not first


def test_an_authority_is_found_again_and_removed_with_its_sandbox(tmp_path: Path) -> None:
    folder = tmp_path / "egress"
    first = Authorities(folder).of("sbx_1")
    assert Authorities(folder).of("sbx_1").pem == first.pem
    assert Authorities(folder).of("sbx_2").pem != first.pem
    assert sorted(Authorities(folder).kept()) == ["sbx_1", "sbx_2"]
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    Authorities(folder).remove("sbx_1")
    Authorities(folder).remove("sbx_1")
    assert Authorities(folder).kept() == ["sbx_2"]


def test_a_file_cut_short_is_replaced(tmp_path: Path) -> None:
    authorities = Authorities(tmp_path)
    authorities.of("sbx_1")
    (tmp_path / "sbx_1.authority.pem").write_bytes(b"-----BEGIN PRIVATE")
    assert authorities.of("sbx_1").pem

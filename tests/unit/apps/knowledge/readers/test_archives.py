"""Archives that strangers packed: bombs and broken ones are refused in words, before they are unpacked."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile

import pytest

from outlast.apps.knowledge.readers import packages
from outlast.apps.knowledge.readers.archives import GLOBAL_FIELDS, HEADER_BYTES, MEMBERS, read_files
from outlast.kernel.web.http_fetch import NotRead


def header(kind: bytes, size: int, name: str = "package/readme.md") -> bytes:
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, max(size, 0)
    data = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    if size < 0:
        data[124:136] = b"\xff" * 8 + (size & 0xFFFFFFFF).to_bytes(4, "big")
        data[148:156] = b"%06o\0 " % (sum(data[:148]) + 8 * 32 + sum(data[156:]))
    return bytes(data)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 512)


def refused(body: bytes) -> str:
    """Why it is not unpacked."""
    with pytest.raises(NotRead) as why:
        unpack(body)
    return str(why.value)


def unpack(body: bytes) -> dict[str, bytes]:
    return read_files(body, "https://npm.example/a.tgz", lambda name, _size: name, 1_000_000_000)


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_a_header_larger_than_headers_are_is_not_read(kind: bytes) -> None:
    said = refused(gzip.compress(header(kind, 1_000_000_000)))
    assert "too large headers" in said
    assert "too large headers" in refused(header(kind, HEADER_BYTES + 1) + bytes(2 * HEADER_BYTES))


def test_headers_nested_without_end_are_refused() -> None:
    assert refused((header(tarfile.GNUTYPE_LONGNAME, 1) + padded(b"a")) * 5_000)


def test_more_fields_for_all_files_than_anybody_writes_are_refused() -> None:
    fields = b"".join(b"%d %s=1\n" % (len(str(n)) + 7, b"k" + b"%d" % n) for n in range(1000, 2000))
    more = fields.replace(b"k", b"l")
    body = b"".join(
        header(tarfile.XGLTYPE, len(one)) + padded(one) + header(tarfile.REGTYPE, 0) for one in (fields, more)
    )
    assert GLOBAL_FIELDS < 2000
    assert "too many headers" in refused(body + header(tarfile.XHDTYPE, 1) + padded(b"\n"))


def test_a_size_below_nothing_does_not_lead_back_to_the_beginning() -> None:
    assert refused(header(tarfile.REGTYPE, 0) + header(tarfile.REGTYPE, -1024) + bytes(1024))


def test_a_file_with_holes_is_refused() -> None:
    assert "sparse" in refused(header(tarfile.GNUTYPE_SPARSE, 512) + bytes(2048))


def test_a_tar_file_is_refused_by_its_size_before_it_is_skipped_over() -> None:
    body = header(tarfile.REGTYPE, 5_000_000_000, "package/big.bin")
    assert "more than the limit" in refused(gzip.compress(body))


def test_a_tar_file_of_too_many_members_is_refused() -> None:
    one = header(tarfile.REGTYPE, 0)
    with pytest.raises(NotRead, match="more than"):
        read_files(one * 20, "a.tar", lambda path, _: path, 4096)
    assert MEMBERS < 1_000_000


def test_what_is_well_packed_is_read() -> None:
    long = "package/" + "deep/" * 60 + "readme.md"
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w:gz", format=form) as archive:
            member = tarfile.TarInfo(long)
            member.size = 2
            archive.addfile(member, io.BytesIO(b"Hi"))
        assert unpack(file.getvalue()) == {long: b"Hi"}


def _zip(method: int) -> bytearray:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("package/readme.md", b"text " * 50)
    return bytearray(file.getvalue())


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_whose_data_is_broken_is_refused(method: int) -> None:
    body = _zip(method)
    begin = 30 + len("package/readme.md")
    body[begin + 8 : begin + 24] = b"\xff" * 16
    _refused_zip(bytes(body))


def test_a_zip_that_asks_for_a_password_is_refused() -> None:
    body = _zip(zipfile.ZIP_DEFLATED)
    body[6] |= 1
    body[body.index(b"PK\x01\x02") + 8] |= 1
    _refused_zip(bytes(body))


def test_a_tar_file_whose_packing_is_broken_is_refused() -> None:
    body = bytearray(gzip.compress(header(tarfile.REGTYPE, 0)))
    body[10] = 0xFF  # no kind of block that there is
    assert refused(bytes(body))


def _refused_zip(body: bytes) -> None:
    assert "unpacked" in refused(body)


def test_a_listing_nested_without_end_is_no_listing() -> None:
    with pytest.raises(NotRead):
        packages._parse_listing(b"[" * 100_000, "https://npm.example/a")

"""Read untrusted archives within bounds: no file in them is read before its size is known."""

import io
import lzma
import posixpath
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from outlast.kernel.web.http_fetch import NotRead

BROKEN: Final = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,  # also: password needed, unknown compression
    ValueError,
)
"""Errors raised by reading a broken or hostile archive."""

Choose = Callable[[str, int], str]
"""Called with a file's path in the archive and its size in bytes; returns the path to store it by, empty to skip it."""
_File = tuple[str, int, Callable[[], bytes]]  # path, size in bytes, and a function that reads it

ARCHIVE_BYTES: Final = 200_000_000  # of a repository's, packed
KEPT_BYTES: Final = 200_000_000  # of the chosen files of one archive, unpacked
MEMBERS: Final = 200_000
HEADER_BYTES: Final = 16_384  # of one extended header: a long name, a few attributes
ALL_HEADERS_BYTES: Final = 20_000_000
GLOBAL_FIELDS: Final = 1_000


def read_files(body: bytes, url: str, choose: Choose, unpacked_bytes: int) -> dict[str, bytes]:
    """The chosen files of a zip or tar file by the path from `choose`; a tar file may unpack to at most
    `unpacked_bytes`, headers included. Blocking. Raises `NotRead`, naming `url`."""
    found: dict[str, bytes] = {}
    left = KEPT_BYTES
    try:
        for name, size, read in _zip_files(body) if body[:2] == b"PK" else _tar_files(body, unpacked_bytes):
            path = choose(name, size)
            if path:
                left -= size
                if left < 0:
                    raise NotRead(f"{url} unpacks to more than the limit")
                found[path] = read()
    except BROKEN as error:
        raise NotRead(f"{url} cannot be unpacked: {error}") from None
    return found


def inner_path(name: str) -> str:
    """A path without the top folder that archives of packages and repositories have."""
    return posixpath.normpath(name).partition("/")[2]


def _zip_files(body: bytes) -> Iterator[_File]:
    """The files of a zip; its directory may lie about sizes, but zipfile reads no more than it states."""
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                yield member.filename, member.file_size, partial(archive.read, member)


def _tar_files(body: bytes, most_bytes: int) -> Iterator[_File]:
    """The files of a tar file, compressed or not, which unpacks to at most `most_bytes`, headers included."""
    with _BoundedTar.open(fileobj=io.BytesIO(body), mode="r:*") as archive:
        for number, member in enumerate(archive):
            if member.size < 0:
                raise NotRead("the archive has a file of negative size")
            if number >= MEMBERS or max(archive.offset, member.offset_data + member.size) > most_bytes:
                raise NotRead("the archive unpacks to more than the limit")
            file = archive.extractfile(member) if member.isreg() else None
            if file is not None:
                yield member.name, member.size, file.read


class _BoundedMember(tarfile.TarInfo):
    """A header with a bounded size: tarfile would read its whole body into memory."""

    def _proc_member(self, archive: "_BoundedTar") -> tarfile.TarInfo:
        if self.type == tarfile.GNUTYPE_SPARSE:
            return self._proc_gnusparse_10()
        if self.size < 0:
            raise NotRead("the archive has a header of negative size")
        if self.type in _EXTENDED:
            archive.headers_bytes += self.size
            if self.size > HEADER_BYTES or archive.headers_bytes > ALL_HEADERS_BYTES:
                raise NotRead("the archive has too large headers")
            if len(archive.pax_headers) > GLOBAL_FIELDS:
                raise NotRead("the archive has too many headers")
        found: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]
        return found

    def _proc_gnusparse_10(self, *_: object) -> tarfile.TarInfo:
        raise NotRead("the archive has a sparse file, which documents never are")


class _BoundedTar(tarfile.TarFile):
    tarinfo = _BoundedMember
    headers_bytes = 0


_EXTENDED: Final = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)

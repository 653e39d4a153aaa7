"""`/files`: upload and download of whole files by plain HTTP, optionally compressed or with an address signed for one
path."""

import posixpath
import re
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final
from urllib.parse import quote

from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from outlast.base.errors import InputTooLarge, MalformedInput
from outlast.kernel.http.responses import reply
from outlast.surfaces.protocols.e2b.access import Inside, inside_for_file, services_of
from outlast.surfaces.protocols.e2b.filesystem import METADATA, shown_metadata
from outlast.surfaces.protocols.e2b.names import MEBIBYTE, full_path
from outlast_sandbox.interactive import FileFacts

METADATA_HEADER: Final = "x-metadata-"
MAX_METADATA_BYTES: Final = 4096
MAX_KEY_BYTES: Final = 246
MAX_FILES: Final = 1000
GZIP_LEVEL: Final = 5
FREE_UNPACKED_BYTES: Final = 64 * MEBIBYTE  # for any body; beyond that, MAX_RATIO times its size
MAX_RATIO: Final = 50
_PRINTABLE: Final = re.compile(r"[\x20-\x7e]*")


async def download(request: Request) -> Response:
    """A file's bytes, as they are read."""
    place = await inside_for_file(request, "read")
    path = full_path(request.query_params.get("path", ""))
    files = place.sandbox.files
    facts = await files.stat(path)
    if facts.kind == "directory":
        raise MalformedInput(f"path '{path}' is a directory", field="path")
    chunks = await _begun(files.read(path))
    name = quote(posixpath.basename(path), safe="")
    headers = {
        "content-disposition": f"inline; filename*=utf-8''{name}",
        "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
        "cache-control": "no-store",
        "vary": "accept-encoding",
    }
    if _wants_gzip(request):
        chunks, headers["content-encoding"] = _compressed(chunks), "gzip"
    return StreamingResponse(chunks, 200, headers, "application/octet-stream")


async def upload(request: Request) -> Response:
    """Write the body as a file, or the files of a form; answers with a list of the written files."""
    place = await inside_for_file(request, "write")
    metadata = _metadata(request)
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind == "multipart/form-data":
        written = await _write_form(request, place, metadata)
    elif kind == "application/octet-stream":
        path = request.query_params.get("path", "")
        if not path:
            raise MalformedInput("The address names no path.", field="path")
        written = [await _write(place, path, _body(request), metadata)]
    else:
        raise MalformedInput(f"The content type is {kind[:60] or 'missing'}; send octets or a form.")
    return reply([_shown(facts) for facts in written])


async def _write(place: Inside, path: str, chunks: AsyncIterator[bytes], metadata: dict[str, str]) -> FileFacts:
    return await place.sandbox.files.write(full_path(path), chunks, metadata=metadata)


async def _write_form(request: Request, place: Inside, metadata: dict[str, str]) -> list[FileFacts]:
    """Write each part named `file` to the path in the address, or else to its file name."""
    _, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if not boundary:
        raise MalformedInput("The form has no boundary.")
    form, source = _Form(boundary), _body(request)
    stated, written = request.query_params.get("path", ""), list[FileFacts]()
    while (part := await form.next_part(source)) is not None:
        if len(written) == MAX_FILES:
            raise InputTooLarge(f"A form can contain at most {MAX_FILES} files.", limit=MAX_FILES)
        path = stated or part
        if not path:
            raise MalformedInput("Neither the address nor the form names a path.", field="path")
        written.append(await _write(place, path, form.chunks(source), metadata))
    if not written:
        raise MalformedInput("The form contains no file.", field="file")
    return written


class _Form:
    """Reads a form piece by piece, so that a file is never in memory as a whole. The parser bounds the parts'
    headers."""

    def __init__(self, boundary: bytes) -> None:
        self._name = bytearray()
        self._value = bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._events: list[tuple[str, bytes]] = []
        self._parser = MultipartParser(
            boundary,
            {
                "on_header_field": lambda data, start, end: self._name.extend(data[start:end]),
                "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
                "on_header_end": self._keep_header,
                "on_headers_finished": self._begin_part,
                "on_part_data": lambda data, start, end: self._events.append(("data", data[start:end])),
                "on_part_end": lambda: self._events.append(("end", b"")),
            },
        )

    async def next_part(self, source: AsyncIterator[bytes]) -> str | None:
        """The name of the next file; None if there are no more."""
        while (event := await self._next(source)) is not None:
            if event[0] == "begin":
                return event[1].decode("utf-8", "surrogateescape")
        return None

    async def chunks(self, source: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The content of the part."""
        while (event := await self._next(source)) is not None:
            if event[0] == "end":
                return
            if event[0] == "data":
                yield event[1]
        raise MalformedInput("The form ends in the middle of a file.")

    async def _next(self, source: AsyncIterator[bytes]) -> tuple[str, bytes] | None:
        while not self._events:
            try:
                data = await anext(source)
            except StopAsyncIteration:
                return None
            try:
                self._parser.write(data)
            except Exception:
                raise MalformedInput("The form is malformed.") from None
        return self._events.pop(0)

    def _keep_header(self) -> None:
        self._headers[bytes(self._name).lower()] = bytes(self._value)
        self._name.clear()
        self._value.clear()

    def _begin_part(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._headers = {}
        if options.get(b"name") == b"file":
            self._events.append(("begin", options.get(b"filename", b"")))


async def _body(request: Request) -> AsyncIterator[bytes]:
    """The body, uncompressed, up to the size limit of a workspace. Raises `InputTooLarge`, `MalformedInput`."""
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding not in ("identity", "gzip"):
        raise MalformedInput(f"The encoding {encoding[:40]} is not supported; use identity or gzip.")
    settings = services_of(request).settings.sandbox
    limit, taken, packed = (settings.disk_mb if settings else 0) * MEBIBYTE, 0, 0
    unpack = zlib.decompressobj(31) if encoding == "gzip" else None
    async for chunk in request.stream():
        packed += len(chunk)
        for piece in _unpacked(chunk, unpack) if unpack is not None else filter(None, [chunk]):
            taken += len(piece)
            if unpack is not None and taken > FREE_UNPACKED_BYTES + MAX_RATIO * packed:
                raise InputTooLarge(
                    f"The body unpacks to more than {MAX_RATIO} times its size.", hint="Send it uncompressed."
                )
            if taken > limit:
                raise InputTooLarge(f"A sandbox can hold at most {limit:,} bytes.", limit_bytes=limit)
            yield piece
    if unpack is not None and not unpack.eof:
        raise MalformedInput("The compressed body ends too early.")


def _unpacked(chunk: bytes, unpack: Any) -> Iterator[bytes]:
    """Decompress in pieces of at most a mebibyte: a small body may unpack to a huge one."""
    try:
        while chunk:
            piece = unpack.decompress(chunk, MEBIBYTE)
            if piece:
                yield piece
            chunk = unpack.unconsumed_tail
    except zlib.error:
        raise MalformedInput("The body is not valid gzip.") from None


async def _begun(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same chunks, with the first read already, so that errors show before the answer begins."""
    first = await anext(chunks, b"")

    async def all_of_them() -> AsyncIterator[bytes]:
        yield first
        async for chunk in chunks:
            yield chunk

    return all_of_them()


async def _compressed(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    packer = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, 31)
    async for chunk in chunks:
        if packed := packer.compress(chunk):
            yield packed
    yield packer.flush()


def _wants_gzip(request: Request) -> bool:
    """True only for callers that accept nothing else: most clients list gzip without needing it."""
    wanted = [word.split(";")[0].strip() for word in request.headers.get("accept-encoding", "").split(",")]
    return wanted == ["gzip"]


def _metadata(request: Request) -> dict[str, str]:
    """The metadata that the caller stores with the file. Raises `MalformedInput`."""
    found: dict[str, str] = {}
    for name, value in request.headers.items():
        if name.startswith(METADATA_HEADER):
            found.setdefault(METADATA + name.removeprefix(METADATA_HEADER), value)
    for name, value in found.items():
        if len(name) - len(METADATA) > MAX_KEY_BYTES or not _PRINTABLE.fullmatch(name + value):
            raise MalformedInput("Metadata must be printable ASCII, with keys of at most 246 bytes.", field="metadata")
    if sum(len("user.") + len(name) + len(value) for name, value in found.items()) > MAX_METADATA_BYTES:
        raise MalformedInput(f"The metadata of a file can have at most {MAX_METADATA_BYTES:,} bytes.", field="metadata")
    return found


def _shown(facts: FileFacts) -> dict[str, Any]:
    return {
        "path": facts.path,
        "name": posixpath.basename(facts.path),
        "type": "file",
        "metadata": shown_metadata(facts),
    }

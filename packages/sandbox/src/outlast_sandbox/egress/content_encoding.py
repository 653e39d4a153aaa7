"""Bodies that a host compressed although it was asked not to: decoded in transit, so that secrets in them are found."""

import zlib
from collections.abc import Iterator
from typing import Final

from outlast_sandbox.egress.http1 import AnswerHead, BadMessage, words_of

PIECE: Final = 256 * 1024
_AUTOMATIC: Final = 47  # gzip or zlib, detected from the first bytes
_KNOWN: Final = frozenset((b"gzip", b"x-gzip", b"deflate"))


class Plain:
    """Not compressed."""

    def pieces(self, piece: bytes) -> Iterator[bytes]:
        yield piece


class Inflated:
    """Decompressed, in pieces of bounded size even if a small piece expands a lot."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(_AUTOMATIC)
        self._began = False

    def pieces(self, piece: bytes) -> Iterator[bytes]:
        """Raises `BadMessage`."""
        while piece:
            try:
                out = self._inflate.decompress(piece, PIECE)
            except zlib.error as error:
                if self._began:
                    raise BadMessage(f"invalid compressed data: {error}") from error
                self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)  # some hosts send raw deflate
                self._began = True
                continue
            self._began = True
            piece = self._inflate.unconsumed_tail
            if out:
                yield out
            if self._inflate.eof:
                rest = self._inflate.unused_data
                if not rest.startswith(b"\x1f\x8b"):  # otherwise another member follows
                    return
                self._inflate, piece = zlib.decompressobj(_AUTOMATIC), rest


def decoder_of(head: AnswerHead) -> Plain | Inflated:
    """A decoder for this response's body. Raises `BadMessage` for an unsupported encoding."""
    encodings = [name for name in words_of(head.by_name, b"content-encoding") if name != b"identity"]
    if not encodings:
        return Plain()
    if len(encodings) > 1 or encodings[0] not in _KNOWN:
        names = b", ".join(encodings).decode("latin-1")
        raise BadMessage(f"it is compressed with {names}, which cannot be searched for secrets")
    return Inflated()

"""Forms and compressed bodies, read piece by piece."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import AsyncIterator

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.errors import MalformedInput
from outlast.surfaces.protocols.e2b.files import _Form, _unpacked
from outlast.surfaces.protocols.e2b.names import MEBIBYTE

FORM = (
    b'--x\r\ncontent-disposition: form-data; name="file"; filename="a/b c.txt"\r\n\r\nfirst\r\n'
    b'--x\r\ncontent-disposition: form-data; name="note"\r\n\r\nno file\r\n'
    b'--x\r\nContent-Type: text/plain\r\nContent-Disposition: form-data; name="file"; filename="two"\r\n\r\n'
    b"se\r\ncond\r\n--x--\r\n"
)


async def read_form(pieces: list[bytes]) -> list[tuple[str, bytes]]:
    async def source() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    form, chunks, found = _Form(b"x"), source(), []
    while (name := await form.next_part(chunks)) is not None:
        found.append((name, b"".join([chunk async for chunk in form.chunks(chunks)])))
    return found


@given(st.lists(st.integers(0, len(FORM)), max_size=8).map(sorted))
def test_a_forms_files_are_the_same_however_it_is_cut(cuts: list[int]):
    pieces = [FORM[start:end] for start, end in zip([0, *cuts], [*cuts, len(FORM)], strict=True)]
    found = anyio.run(read_form, [piece for piece in pieces if piece])
    assert found == [("a/b c.txt", b"first"), ("two", b"se\r\ncond")]


async def test_a_form_that_breaks_off_or_is_none_is_refused():
    for pieces in ([FORM[:80]], [b"--y\r\n"]):
        with pytest.raises(MalformedInput):
            await read_form(pieces)


async def test_the_head_of_a_part_is_bounded():
    endless = [b"--x\r\nname: ", *[b"a" * 1000] * 50]
    with pytest.raises(MalformedInput):
        await read_form(endless)


def test_a_small_body_that_unpacks_to_a_huge_one_comes_in_small_pieces():
    packed = gzip.compress(bytes(20 * MEBIBYTE))
    unpack = zlib.decompressobj(31)
    sizes = [len(piece) for piece in _unpacked(packed, unpack)]
    assert sum(sizes) == 20 * MEBIBYTE
    assert max(sizes) <= MEBIBYTE
    with pytest.raises(MalformedInput):
        list(_unpacked(b"not compressed", zlib.decompressobj(31)))

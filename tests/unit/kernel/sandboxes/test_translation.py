"""Errors of the package outlast_sandbox become the server's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from outlast.base import errors as ours
from outlast.kernel.sandboxes.translation import ERRORS, Translated, as_ours, translated, translated_provider
from outlast_sandbox import errors as theirs
from outlast_sandbox.errors import SandboxError
from outlast_sandbox.interface import SandboxSpec
from outlast_sandbox.providers.memory import MemoryProvider


def kinds(kind: type[SandboxError]) -> list[type[SandboxError]]:
    return [kind, *(below for one in kind.__subclasses__() for below in kinds(one))]


def test_each_error_has_one_of_the_server_with_the_same_code() -> None:
    named = [kind for kind in kinds(SandboxError) if kind.__module__ == theirs.__name__]
    assert set(named) == set(ERRORS)
    different = [kind for kind in named if kind is not SandboxError and kind.code != ERRORS[kind].code]
    assert different == []


def test_what_an_error_says_is_kept_and_a_hint_is_added_where_it_has_none() -> None:
    error = as_ours(theirs.SandboxLost("It is gone.", sandbox_id="sbx_1", retry_after_s=2.0))
    assert isinstance(error, ours.SandboxLost)
    assert (error.message, error.fields, error.retry_after_s) == ("It is gone.", {"sandbox_id": "sbx_1"}, 2.0)
    assert as_ours(theirs.DiskFull("x", hint="Free some.")).hint == "Free some."
    assert as_ours(theirs.StoredFileDamaged("x")).hint == ours.StoredFileDamaged.default_hint


def test_an_error_of_another_package_counts_as_the_nearest() -> None:
    class Elsewhere(theirs.NotFound):
        code = "elsewhere"

    with pytest.raises(ours.NotFound, match="no such room"), translated():
        raise Elsewhere("no such room")


async def test_what_a_wrapped_provider_makes_raises_the_errors_of_the_server(tmp_path: Path) -> None:
    async with MemoryProvider() as memory:
        provider = translated_provider(memory)
        assert translated_provider(provider) is provider
        sandbox = await provider.create(SandboxSpec("sbx_1", tmp_path))
        with pytest.raises(ours.NotFound):
            await sandbox.read_file("missing.txt", 10)
        with pytest.raises(ours.SandboxUnavailable):
            _ = sandbox.processes
        with pytest.raises(ours.SandboxUnavailable):
            await sandbox.dial(80)
        await sandbox.kill()
        with pytest.raises(ours.SandboxLost):
            await sandbox.list_files()


async def test_what_is_read_piece_by_piece_or_entered_raises_the_errors_of_the_server() -> None:
    sandbox: Any = Translated(_Interactive())
    assert [piece async for piece in sandbox.files.read("there")] == [b"a", b"b"]
    with pytest.raises(ours.NotFound):
        await anext(aiter(sandbox.files.read("missing")))
    async with sandbox.files.watch("there") as changes:
        assert [change async for change in changes] == [b"a", b"b"]
    with pytest.raises(ours.NotFound):
        async with sandbox.files.watch("missing"):
            pass


class _Interactive:
    """A sandbox whose files are two pieces."""

    @property
    def files(self) -> _Interactive:
        return self

    async def read(self, path: str) -> AsyncIterator[bytes]:
        self._demand(path)
        for piece in (b"a", b"b"):
            yield piece

    @asynccontextmanager
    async def watch(self, path: str) -> AsyncIterator[AsyncIterator[bytes]]:
        self._demand(path)
        yield self.read("there")

    def _demand(self, path: str) -> None:
        if path == "missing":
            raise theirs.NotFound("no such file")

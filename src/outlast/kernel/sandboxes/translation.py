"""Sandboxes of `outlast_sandbox` that raise the server's errors.

A provider wrapped by `translated_provider`, and all objects that it makes, raise the errors of `outlast.base.errors`.
Code that calls the package directly does so within `translated()`.
"""

import inspect
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

from outlast.base import errors as ours
from outlast.base.node_errors import HostUnreachable
from outlast_sandbox import errors as theirs
from outlast_sandbox.interface import SandboxProvider

T = TypeVar("T")
ERRORS: Final[Mapping[type[theirs.SandboxError], type[ours.OutlastError]]] = MappingProxyType(
    {
        theirs.SandboxError: ours.InternalError,
        theirs.SandboxLost: ours.SandboxLost,
        theirs.SandboxUnavailable: ours.SandboxUnavailable,
        theirs.HostUnreachable: HostUnreachable,
        theirs.SandboxIsolationMissing: ours.SandboxIsolationMissing,
        theirs.NotFound: ours.NotFound,
        theirs.PathRefused: ours.PathRefused,
        theirs.InputTooLarge: ours.InputTooLarge,
        theirs.ArgumentsInvalid: ours.ArgumentsInvalid,
        theirs.MalformedInput: ours.MalformedInput,
        theirs.Conflict: ours.Conflict,
        theirs.DiskFull: ours.DiskFull,
        theirs.FenceLost: ours.FenceLost,
        theirs.StoredFileDamaged: ours.StoredFileDamaged,
        theirs.InvalidSetting: ours.InvalidSetting,
        theirs.StartRefused: ours.StartRefused,
    }
)

PARTS: Final = frozenset({"create", "connect", "processes", "files"})
"""Results of a provider or a sandbox that are wrapped as well."""


@contextmanager
def translated() -> Iterator[None]:
    """Raises an error of the package as the server's of the same code."""
    try:
        yield
    except theirs.SandboxError as error:
        raise as_ours(error) from error


def as_ours(error: theirs.SandboxError) -> ours.OutlastError:
    """The server's error of the same code. A class that the table does not have, of a provider in another package,
    counts as its nearest base class there."""
    kind = next(ERRORS[base] for base in type(error).__mro__ if base in ERRORS)
    hint = error.hint or kind.default_hint
    return kind(error.message, hint=hint, retry_after_s=error.retry_after_s, **error.fields)


def translated_provider(provider: SandboxProvider) -> SandboxProvider:
    """`provider`, wrapped; unchanged if it is already wrapped."""
    return provider if isinstance(provider, Translated) else cast("SandboxProvider", Translated(provider))


def untranslated(part: T) -> T:
    """A provider or sandbox without the wrapper, for functions of the package."""
    return cast("T", part.inner) if isinstance(part, Translated) else part


class Translated:
    """A provider, a sandbox, or its processes or files: the same calls, within `translated()`. `inner` raises the
    package's errors."""

    def __init__(self, inner: object) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        with translated():
            value = getattr(self.inner, name)  # a property may raise too: `processes` of a provider without them
        if not callable(value):
            return Translated(value) if name in PARTS else value

        def call(*arguments: Any, **named: Any) -> Any:
            with translated():
                result = value(*arguments, **named)
            if inspect.isawaitable(result):
                return _made(result) if name in PARTS else _awaited(result)
            if isinstance(result, AsyncIterator):
                return _iterated(result)
            return _entered(result) if isinstance(result, AbstractAsyncContextManager) else result

        return call


async def _made(result: Awaitable[object]) -> Translated:
    return Translated(await _awaited(result))


async def _awaited(result: Awaitable[T]) -> T:
    with translated():
        return await result


async def _iterated(result: AsyncIterator[T]) -> AsyncIterator[T]:
    with translated():
        async for one in result:
            yield one


@asynccontextmanager
async def _entered(result: AbstractAsyncContextManager[T]) -> AsyncIterator[T]:
    with translated():
        async with result as entered:
            yield entered

"""Faults at every call: what services are given, wrapped so that the n-th call from now on raises.

    faults = Faults()
    database = faults.wrap("database", database)
    faults.arm("database", 3, KINDS["os"])
    ...                          # the work; its third call of the database raises OSError
    faults.disarm()
    assert faults.fired is None  # the work ended without a third call: nothing is left to try

A call is a method that is called, an asynchronous context manager that is entered, or an asynchronous iterator that is
asked for its next item. The fault comes before the call, or after it has done its work (`after`). Closing what is open
is no call: a service that stops must be able to.
"""

import errno
import inspect
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from outlast.base.errors import OutlastError

Make = Callable[[], Exception]
KINDS: Final[Mapping[str, Make]] = {
    "outlast": lambda: OutlastError("A fault was put here."),
    "os": lambda: OSError(errno.EIO, "Input/output error"),
    "timeout": TimeoutError,
    "recursion": lambda: RecursionError("maximum recursion depth exceeded"),
    "group": lambda: ExceptionGroup(
        "unhandled errors in a TaskGroup", [ExceptionGroup("inner", [OSError(errno.EIO, "Input/output error")])]
    ),
}
"""What is raised, by name; made for each time, since an exception keeps its trace."""
UNCOUNTED: Final = frozenset({"aclose"})


@dataclass(frozen=True, slots=True)
class Armed:
    """The `nth` call of a part from the moment of arming, and on which side of it the fault comes."""

    part: str
    nth: int
    make: Make
    after: bool

    def strike(self) -> None:
        raise self.make()


class Faults:
    """Counts the calls of every part that it wraps, and raises at the one that is armed. May be called from any thread.

    `fired` names the call at which the armed fault was raised, as `database.write`; None: it has not come.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: Counter[str] = Counter()
        self._armed: Armed | None = None
        self.fired: str | None = None

    def arm(self, part: str, nth: int, make: Make, *, after: bool = False) -> None:
        """Raise at the `nth` call (1, 2, …) of this part from now on, once. Counts begin at nothing."""
        with self._lock:
            self._calls.clear()
            self._armed, self.fired = Armed(part, nth, make, after), None

    def disarm(self) -> None:
        """Raise nothing any more, and count from nothing."""
        with self._lock:
            self._calls.clear()
            self._armed = None

    def calls(self, part: str) -> int:
        """How often this part was called since it was armed or disarmed."""
        with self._lock:
            return self._calls[part]

    def wrap(self, part: str, target: Any, deep: Collection[str] = ()) -> Any:
        """`target`, with its calls counted as those of `part`. What a method or property gives whose name is in `deep`
        is wrapped in the same way."""
        return _Wrapped(self, part, target, frozenset(deep))

    def count(self, part: str, name: str) -> Callable[[], None]:
        """Count a call that begins. Raises the fault that comes before it; the result, to be called when the call has
        done its work, raises the one that comes after it."""
        with self._lock:
            self._calls[part] += 1
            armed = self._armed
            if armed is None or (armed.part, armed.nth) != (part, self._calls[part]):
                return lambda: None
            self._armed, self.fired = None, f"{part}.{name}"
        if not armed.after:
            raise armed.make()
        return armed.strike


class _Wrapped:
    """Passes as the object that it wraps, with isinstance too."""

    def __init__(self, faults: Faults, part: str, target: Any, deep: frozenset[str]) -> None:
        self._faults, self._part, self._target, self._deep = faults, part, target, deep

    @property  # type: ignore[misc]  # what isinstance asks
    def __class__(self) -> Any:
        return type(self._target)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        if name.startswith("_") or name in UNCOUNTED or inspect.isclass(value):
            return value
        if not callable(value):
            return self._faults.wrap(self._part, value, self._deep) if name in self._deep else value
        return self._counted(name, value)

    def _counted(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            then = self._faults.count(self._part, name)
            result = method(*args, **kwargs)
            if inspect.isawaitable(result):
                return self._awaited(name, result, then)
            then()
            return self._given(name, result)

        return call

    async def _awaited(self, name: str, result: Awaitable[Any], then: Callable[[], None]) -> Any:
        found = await result
        then()
        return self._given(name, found)

    def _given(self, name: str, result: Any) -> Any:
        if hasattr(result, "__anext__"):
            return _steps(self._faults, self._part, name, result)
        if hasattr(result, "__aenter__"):
            return _entered(self._faults, self._part, name, result, self._deep)
        if name in self._deep and result is not None:
            return self._faults.wrap(self._part, result, self._deep)
        return result


async def _steps(faults: Faults, part: str, name: str, inner: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """Each item, counted as a call."""
    try:
        while True:
            then = faults.count(part, f"{name} (next)")
            try:
                item = await anext(inner)
            except StopAsyncIteration:
                return
            then()
            yield item
    finally:
        if hasattr(inner, "aclose"):
            await inner.aclose()


@asynccontextmanager
async def _entered(
    faults: Faults, part: str, name: str, inner: AbstractAsyncContextManager[Any], deep: Collection[str]
) -> AsyncIterator[Any]:
    """The context manager, its entering counted as a call, and what it gives followed item by item."""
    then = faults.count(part, f"{name} (enter)")
    async with inner as given:
        then()
        if hasattr(given, "__anext__"):
            yield _steps(faults, part, name, given)
        else:
            yield faults.wrap(part, given, deep) if name in deep else given

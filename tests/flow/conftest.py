"""What holds for each flow test: the event loop never stands still while it runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

import pytest

from tests import lag
from tests.lag import Stall


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Watch the loop of a test that is async, from when its fixtures are there."""
    if iscoroutinefunction(pyfuncitem.obj):
        pyfuncitem.obj = _watched(pyfuncitem.obj)
    return (yield)


def _watched(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    @wraps(test)
    async def watched(*args: Any, **kwargs: Any) -> None:
        found: list[Stall] = []
        with lag.noticed(found.append):
            await test(*args, **kwargs)
        _demand_none(found)

    return watched


@pytest.fixture
async def watched_loop() -> AsyncIterator[None]:
    found: list[Stall] = []
    with lag.noticed(found.append):
        yield
    _demand_none(found)


@pytest.fixture(autouse=True)
def loop_keeps_going(request: pytest.FixtureRequest) -> None:
    """The same for a test of generated cases, all of which run in one loop."""
    if hasattr(request.function, "hypothesis") and "anyio_backend" in request.fixturenames:
        request.getfixturevalue("watched_loop")


def _demand_none(found: list[Stall]) -> None:
    assert not found, "\n".join(map(str, found))

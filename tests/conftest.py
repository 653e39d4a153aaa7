"""What holds for the whole run: no network beyond this machine, one async backend, two profiles of generated cases."""

from __future__ import annotations

import functools
import gc
import inspect
import os
import sys
from collections.abc import Awaitable, Callable, Generator, Iterator
from datetime import timedelta
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, settings

from outlast.apps import APPS
from outlast.db import lock_order
from outlast.kernel.apps import packages, registry
from tests import network_guard
from tests.buckets import *  # noqa: F403  # fixtures; the names are in its __all__
from tests.databases import *  # noqa: F403  # fixtures; the names are in its __all__
from tests.reruns import Reruns
from tests.suites import TESTS, apps_of, with_apps

# `make test` uses the fast profile and finds the same cases each time; `make deep` searches anew, and prints how to
# repeat what it found.
settings.register_profile("fast", max_examples=60, stateful_step_count=30, deadline=None, derandomize=True)
settings.register_profile(
    "deep",
    max_examples=5000,
    stateful_step_count=100,
    deadline=timedelta(seconds=60),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fast")

network_guard.install()
packages.declare(APPS)
registry.load()

# Where the environment says that no compiled module is kept (as in many containers), each worker would rewrite the
# tests' modules anew and each server that they start would compile the program: minutes of a run.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


LOCKS_CHECKED = ("store", "flow")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Reruns(config), "outlast-reruns")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """A case given as bytes is named by its argument: bytes may hold the time, and workers must agree on all names."""
    return argname if isinstance(val, bytes) else None


# Real processes, browsers and kernels: on an overloaded machine one can miss a deadline that says nothing of the code.
REAL_PROCESSES = ("browser", "cluster", "crash", "sandbox")
IN_TIME = 0.9  # of its timeout: then an async test is cancelled


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Try such a test once more before it fails the run; no other is. It is reported as RERUN, and deserves a look.
    More than one in 2,500 tests, or the same in three runs, fail the run."""
    for item in items:
        if item.path.relative_to(item.config.rootpath / "tests").parts[0] in REAL_PROCESSES:
            item.add_marker(pytest.mark.flaky(reruns=1))
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            item.obj = _ended_in_time(item.obj, _timeout_of(item) * IN_TIME)


def _timeout_of(item: pytest.Item) -> float:
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0] if marker else item.config.getini("timeout"))


def _ended_in_time(test: Callable[..., Awaitable[None]], timeout_s: float) -> Callable[..., Awaitable[None]]:
    """The plugin's own timeout tears a test off its event loop; what the fixtures then do waits for ever. This one
    cancels it, so that they put away what it started."""

    @functools.wraps(test)
    async def timed(*args: Any, **kwargs: Any) -> None:
        with anyio.fail_after(timeout_s):
            await test(*args, **kwargs)

    return timed


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Each test has the apps of its suite, and no others; the order of locks is checked where it says."""
    lock_order.set_debug(item.path.relative_to(TESTS).parts[0] in LOCKS_CHECKED)
    with with_apps(apps_of(item.path, item.get_closest_marker("apps"))):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Thousands of tests are found and kept to the end: no search for garbage looks through them, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The server runs on asyncio only, so do the tests."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def sandboxes_end_with_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Sandboxes outlive their servers, also those of the tests: without its state file each ends by itself."""
    yield
    for pattern in ("*/state", "*/sandboxes", "*/data/sandboxes"):
        for state in tmp_path_factory.getbasetemp().glob(f"{pattern}/*/state.json"):
            state.unlink(missing_ok=True)

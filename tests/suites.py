"""Which apps a test has. A suite of the kernel has none, one of an app has that app and those that its ports join it
with; tests of the whole server have all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from outlast.apps import APPS
from outlast.kernel.apps import registry
from outlast.kernel.apps.app import App

TESTS: Final = Path(__file__).parent
BY_NAME: Final = {package.rpartition(".")[2]: package for package in APPS}
OF_KERNEL: Final = {
    "unit": ("base", "db", "kernel", "testing"),
    "store": ("db", "kernel"),
    "flow": ("models", "preview", "runs", "sandboxes", "seed003", "streams"),
}
OF_APPS: Final = {
    "canvas": "screens",
    "documents": "documents",
    "knowledge": "knowledge",
    "pages": "pages",
    "screens": "screens",
    "skills": "skills",
}
"""Folders of tests/flow, and the app that each is of."""


def apps_of(test: Path, marker: pytest.Mark | None = None) -> tuple[str, ...] | None:
    """Names of the apps that a test has; None: all. `marker`: its mark `apps`, which names them or, without a name,
    wants all."""
    if marker is not None:
        return marker.args or None
    kind, *folders = test.relative_to(TESTS).parts
    if not folders:
        return None
    if folders[0] in OF_KERNEL.get(kind, ()):
        return ()
    app = folders[1] if folders[0] == "apps" else OF_APPS.get(folders[0]) if kind == "flow" else None
    return None if app is None else (app, *joined_with(app))


def joined_with(name: str) -> tuple[str, ...]:
    """The apps that implement the ports which an app uses."""
    used = set(_app(name).uses)
    others = (other for other in BY_NAME if other != name)
    return tuple(other for other in others if used & {port for port, _ in _app(other).implements})


def _app(name: str) -> App:
    declared: App = import_module(f"{BY_NAME[name]}.app").APP
    return declared


@contextmanager
def with_apps(names: tuple[str, ...] | None) -> Iterator[None]:
    """A server has these apps alone; None: all."""
    if names is None:
        yield
        return
    with registry.only(*map(_app, names)):
        yield

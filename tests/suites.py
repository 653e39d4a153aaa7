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

TESTS: Final = Path(__file__).parent
BY_NAME: Final = {package.rpartition(".")[2]: package for package in APPS}
PORTS: Final = {
    "documents": ("chat",),  # whose summaries say what was decided in a document
    "pages": ("knowledge",),
}
"""By app: the apps that its ports join it with."""
OF_KERNEL: Final = {
    "unit": ("base", "db", "kernel", "testing"),
    "store": ("kernel",),
    "flow": ("models", "preview", "runs", "sandboxes", "seed003", "streams"),
}
OF_APPS: Final = {
    "canvas": "screens",
    "documents": "documents",
    "knowledge": "knowledge",
    "pages": "pages",
    "screens": "screens",
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
    return None if app is None else (app, *PORTS.get(app, ()))


@contextmanager
def with_apps(names: tuple[str, ...] | None) -> Iterator[None]:
    """A server has these apps alone; None: all."""
    if names is None:
        yield
        return
    with registry.only(*(import_module(f"{BY_NAME[name]}.app").APP for name in names)):
        yield

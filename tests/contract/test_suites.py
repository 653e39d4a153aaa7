"""Suites know no other apps than those that they run with."""

from __future__ import annotations

import re

import pytest

from tests.suites import TESTS, apps_of

NAMED = re.compile(r"outlast\.apps\.(\w+)")
MARK = "pytest.mark.apps"  # such a test says itself which apps it has


def test_a_test_imports_no_app_that_its_suite_is_without() -> None:
    foreign = [
        f"{path.relative_to(TESTS)}: {name}"
        for path in sorted(TESTS.rglob("*.py"))
        if (apps := apps_of(path)) is not None and MARK not in (text := path.read_text())
        for name in sorted(set(NAMED.findall(text)) - set(apps))
    ]
    assert foreign == []


@pytest.mark.parametrize(
    ("path", "apps"),
    [
        ("unit/kernel/runs/test_rules.py", ()),
        ("flow/runs/test_worker.py", ()),
        ("store/apps/pages/test_store.py", ("pages", "knowledge")),
        ("flow/canvas/test_files.py", ("screens",)),
        ("flow/http/test_server.py", None),
        ("conftest.py", None),
    ],
)
def test_a_test_has_the_apps_of_its_folder(path: str, apps: tuple[str, ...] | None) -> None:
    assert apps_of(TESTS / path) == apps

"""Other packages are found by the groups of their entry points."""

from importlib import metadata

import pytest

from outlast.base import plugins


def test_the_demos_model_is_found_in_its_group_and_in_no_other() -> None:
    assert [entry.name for entry in plugins.plugins("outlast.model_kinds")] == ["demo"]
    assert not plugins.plugins("outlast.nobody_has_this_group")


def test_the_installed_packages_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    plugins.plugins("outlast.sidecars")
    monkeypatch.setattr(metadata, "distributions", lambda **_: pytest.fail("read again"))
    assert [entry.name for entry in plugins.plugins("outlast.sidecars")]

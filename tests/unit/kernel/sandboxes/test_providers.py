"""The provider that the settings name."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast.base.errors import InvalidSetting
from outlast.kernel.sandboxes.providers import check_provider, open_provider, provider_setup
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.translation import Translated
from outlast_sandbox.providers.local.provider import LocalProvider


def test_a_provider_is_opened_with_the_errors_of_the_server(tmp_path: Path) -> None:
    provider = open_provider(SandboxSettings(), tmp_path)
    assert isinstance(provider, Translated)
    assert isinstance(provider.inner, LocalProvider)


def test_a_configuration_is_checked_without_a_server() -> None:
    check_provider(SandboxSettings(provider="docker", options={"image": "mine:1"}))
    with pytest.raises(InvalidSetting, match=r"sandbox\.options\.imge"):
        check_provider(SandboxSettings(provider="docker", options={"imge": "mine:1"}))


def test_a_server_is_known_by_the_same_name_after_each_restart(tmp_path: Path) -> None:
    settings = SandboxSettings(provider="docker", region="west", options={"image": "a"})
    first, second = provider_setup(settings, tmp_path), provider_setup(settings, tmp_path)
    assert first.owner == second.owner
    assert (first.region, first.options) == ("west", {"image": "a"})
    assert first.state_dir != provider_setup(SandboxSettings(), tmp_path).state_dir

"""Options reach a provider as the types it names, or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from outlast.base.errors import InvalidSetting
from outlast.base.settings import SandboxSettings
from outlast.kernel.sandboxes.providers.setup import read_options, setup_from


@dataclass(frozen=True, slots=True)
class Options:
    image: str
    size: int = 1
    share: float = 0.5
    strict: bool = False


def test_options_become_the_fields_of_the_dataclass() -> None:
    given = {"image": "a", "size": 2, "share": 1, "strict": True}
    assert read_options(Options, given, "any") == Options("a", 2, 1, True)
    assert read_options(Options, {"image": "a"}, "any") == Options("a")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "options.image: it is needed"),
        ({"image": 3}, "options.image: expected a text"),
        ({"image": "a", "size": True}, "options.size: expected a whole number"),
        ({"image": "a", "size": 0.5}, "options.size: expected a whole number"),
        ({"image": "a", "share": "much"}, "options.share: expected a number"),
        ({"image": "a", "strict": 1}, "options.strict: expected true or false"),
        ({"image": "a", "colour": "red"}, "there are: image, share, size, strict"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSetting, match=words):
        read_options(Options, given, "any")


def test_a_refusal_does_not_tell_the_value() -> None:
    with pytest.raises(InvalidSetting) as caught:
        read_options(Options, {"image": "a", "size": "a secret"}, "any")
    assert "a secret" not in str(caught.value)


def test_a_server_is_known_by_the_same_name_after_each_restart(tmp_path: Path) -> None:
    settings = SandboxSettings(provider="docker", region="west", options={"image": "a"})
    first, second = setup_from(settings, tmp_path), setup_from(settings, tmp_path)
    assert first.owner == second.owner
    assert (first.region, first.options) == ("west", {"image": "a"})
    assert first.state_dir != setup_from(SandboxSettings(), tmp_path).state_dir

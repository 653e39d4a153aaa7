"""Options reach a provider as the types it names, or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from outlast_sandbox.errors import InvalidSetting
from outlast_sandbox.providers.setup import read_options


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
        ({}, "options.image: it is required"),
        ({"image": 3}, "options.image: expected a text"),
        ({"image": "a", "size": True}, "options.size: expected a whole number"),
        ({"image": "a", "size": 0.5}, "options.size: expected a whole number"),
        ({"image": "a", "share": "much"}, "options.share: expected a number"),
        ({"image": "a", "strict": 1}, "options.strict: expected true or false"),
        ({"image": "a", "colour": "red"}, "known options: image, share, size, strict"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSetting, match=words):
        read_options(Options, given, "any")


def test_a_refusal_does_not_tell_the_value() -> None:
    with pytest.raises(InvalidSetting) as caught:
        read_options(Options, {"image": "a", "size": "a secret"}, "any")
    assert "a secret" not in str(caught.value)

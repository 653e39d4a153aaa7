"""What apps say about their nouns is found by noun, and taken once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from outlast.apps.pages.subject import PAGE
from outlast.apps.screens.subject import SCREEN
from outlast.base.errors import StartRefused
from outlast.kernel.subjects import registry


def test_a_noun_that_two_apps_have_is_refused() -> None:
    with registry.only([SCREEN]):
        registry.register(SCREEN)
        with pytest.raises(StartRefused, match="'screen'"):
            registry.register(replace(PAGE, noun="screen"))
        assert list(registry.subjects()) == [SCREEN]


def test_runs_of_a_profile_without_a_subject_do_nothing_to_one() -> None:
    with registry.only([PAGE]):
        assert registry.run_hooks("page") is PAGE.runs
        assert type(registry.run_hooks("chat")).__name__ == "NoRunHooks"
        assert registry.subject(None) is None
        assert registry.subject("screen") is None


def test_after_a_test_the_apps_are_what_they_were() -> None:
    before = list(registry.subjects())
    with registry.only([]):
        assert list(registry.subjects()) == []
    assert list(registry.subjects()) == before
    assert SCREEN in before

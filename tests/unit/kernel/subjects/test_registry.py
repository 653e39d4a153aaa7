"""What apps say about their nouns is found by noun."""

from __future__ import annotations

import pytest

from outlast.apps.pages.app import APP as PAGES
from outlast.apps.pages.subject import PAGE
from outlast.kernel.apps.registry import only
from outlast.kernel.subjects import registry

pytestmark = pytest.mark.apps("pages")  # an app to declare something


def test_runs_of_a_profile_without_a_subject_do_nothing_to_one() -> None:
    with only(PAGES):
        assert list(registry.subjects()) == [PAGE]
        assert registry.run_hooks("page") is PAGE.runs
        assert type(registry.run_hooks("chat")).__name__ == "RunHooks"
        assert registry.subject(None) is None
        assert registry.subject("screen") is None

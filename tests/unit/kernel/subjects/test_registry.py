"""What apps say about their nouns is found by noun."""

from __future__ import annotations

import pytest

from outlast.apps.pages.app import APP as PAGES
from outlast.apps.pages.subject import PAGE
from outlast.kernel.apps.registry import only
from outlast.kernel.subjects import registry

pytestmark = pytest.mark.apps("pages")  # an app to declare something


def test_only_nouns_that_an_app_declares_have_a_subject() -> None:
    with only(PAGES):
        assert list(registry.subjects()) == [PAGE]
        assert registry.subject("page") is PAGE
        assert registry.subject("chat") is None
        assert registry.subject(None) is None
        assert registry.subject("screen") is None

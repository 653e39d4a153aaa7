"""When a server brings the issues tracker along."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast.kernel.settings.load import load_settings
from outlast_demo.tracker.service import SIDECAR


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("[sandbox]", True),
        ("[sandbox]\n[demo]\ntracker = false", False),
        ("[server]\nport = 8401", False),
        ('[sandbox]\nprovider = "none"', False),
        ('[[sandbox.dependencies]]\nhosts = ["api.example.com"]', False),
        ('[sandbox]\n[database]\nurl = "postgresql://localhost/outlast"', False),
        ('[sandbox]\n[providers.groq]\nkind = "groq"\n[[models]]\nid = "m"\nprovider = "groq"\nname = "m"', False),
    ],
)
def test_the_demos_tracker_comes_along_only_where_nothing_of_ones_own_is_configured(
    tmp_path: Path, text: str, there: bool
) -> None:
    file = tmp_path / "outlast.toml"
    file.write_text(text)
    assert SIDECAR.is_wanted(load_settings(file, environ={})) is there

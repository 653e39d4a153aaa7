"""What `outlast doctor` says of Chromium."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from outlast.apps.web.settings import WebSettings
from outlast.kernel.sandboxes.screen_settings import ScreenSettings
from outlast.kernel.settings import settings_class
from outlast.surfaces.cli.doctor import Finding, _chromium


def found(*, browser: bool, pictures: bool = True, program: str = "") -> Finding:
    screens = ScreenSettings(pictures=pictures, browser=program)
    web = WebSettings(browser=browser)
    return _chromium(replace(settings_class()(), screens=screens, web=web))  # type: ignore[call-arg]  # an app's table


def test_a_missing_chromium_is_a_problem_only_if_agents_are_to_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outlast_sandbox.browser.chromium.NAMES", ())
    assert found(browser=False).verdict == "note"
    missing = found(browser=True)
    assert missing.verdict == "bad"
    assert missing.found == "not found: there will be no screenshots of screens and no browser tools of agents"
    assert found(browser=True, program="/nowhere/chrome").verdict == "bad"
    assert found(browser=False, pictures=False).verdict == "note"


def test_chromium_that_is_there_is_named_with_its_uses(tmp_path: Path) -> None:
    program = tmp_path / "chrome"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o755)
    assert found(browser=True, pictures=False, program=str(program)).found == f"{program}, for browser tools of agents"

"""Where Chromium is, and how it is started."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from outlast_sandbox.browser import chromium
from outlast_sandbox.browser.chromium import find_browser, folder_to_show, one_port, start_command, through_proxy


def make(path: Path, content: bytes = b"\x7fELF") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o755)
    return path


def test_the_setting_names_the_program_and_a_wrong_name_finds_none(tmp_path: Path) -> None:
    chrome = make(tmp_path / "chrome")
    assert find_browser(str(chrome)) == chrome
    assert find_browser(str(tmp_path / "missing")) is None


def test_without_a_setting_the_known_names_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_browser() is None
    chrome = make(tmp_path / "google-chrome")
    assert find_browser() == chrome


def test_behind_a_starting_script_the_program_beside_it_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = make(tmp_path / "opt" / "chrome")
    script = make(tmp_path / "opt" / "google-chrome", b"#!/bin/sh\n")
    monkeypatch.setattr(chromium, "BINARIES", (str(real),))
    os.symlink(script, tmp_path / "chrome-link")
    assert find_browser(str(tmp_path / "chrome-link")) == real


def test_a_program_outside_of_the_system_is_shown_to_the_sandbox_with_its_folder() -> None:
    assert folder_to_show(Path("/usr/lib/chromium/chromium")) is None
    assert folder_to_show(Path("/opt/google/chrome/chrome")) == Path("/opt/google/chrome")


def test_every_name_leads_nowhere_but_the_one_page_and_no_port_is_opened_for_control() -> None:
    words = start_command(Path("/usr/bin/chromium"), one_port(3000, 3128))
    assert "--host-resolver-rules=MAP localhost:3000 127.0.0.1:3128, MAP * ~NOTFOUND" in words
    assert "--remote-debugging-pipe" in words
    assert not any(word.startswith("--remote-debugging-port") for word in words)


def test_a_browser_for_the_web_connects_to_nothing_but_its_proxy() -> None:
    words = start_command(Path("/usr/bin/chromium"), through_proxy(3128), longest_s=1800)
    assert words[3] == "1800"
    assert "--proxy-server=http://127.0.0.1:3128" in words
    assert "--proxy-bypass-list=<-loopback>" in words, "loopback addresses too"
    assert "--no-proxy-server" not in words

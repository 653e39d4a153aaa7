"""What comes before a dev server: packages that are missing are installed, and it is said what cannot be."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from outlast.kernel.sandboxes.services.rules import COMMAND_CHARS, Declared
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.templates import dev_server, preview_environment
from outlast_sandbox.providers.local.node import find_node
from tests.templates import small_template

NODE = find_node()
SERVED = Declared("dev", "echo served", 3000)


class App:
    """A project's folder, with an npm that says what it was asked for and does as told."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.tools = folder / "app", folder / "tools"
        self.folder.mkdir()
        self.tools.mkdir()
        (self.tools / "npm").write_text('#!/bin/sh\necho "npm $1"; exit ${NPM_EXIT:-0}\n')
        (self.tools / "npm").chmod(0o755)
        if NODE is not None:
            (self.tools / "node").symlink_to(NODE)

    def wants(self, *packages: str) -> None:
        (self.folder / "package.json").write_text(json.dumps({"dependencies": dict.fromkeys(packages, "1")}))

    def has(self, *packages: str) -> None:
        for package in (".bin", *packages):
            (self.folder / "node_modules" / package).mkdir(parents=True)
            (self.folder / "node_modules" / package / "package.json").write_text("{}")

    def serve(self, npm_exit: int = 0, beside: str = ":/usr/bin:/bin") -> list[str]:
        command = dev_server(replace(small_template(), service=SERVED)).command
        env = {**os.environ, "PATH": f"{self.tools}{beside}", "NPM_EXIT": str(npm_exit)}
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=self.folder, env=env, capture_output=True, text=True, check=False
        )
        return [*done.stdout.splitlines(), f"exit {done.returncode}"]


@pytest.fixture
def app(tmp_path: Path) -> App:
    if NODE is None:
        pytest.skip("there is no Node on this machine")
    return App(tmp_path)


def test_with_all_packages_there_it_starts_at_once(app: App) -> None:
    app.wants("react", "@scope/kit")
    app.has("react", "@scope/kit")
    assert app.serve() == ["served", "exit 0"]


def test_a_package_that_was_added_is_installed_first(app: App) -> None:
    app.wants("react", "three")
    app.has("react")
    assert app.serve() == ["Installing: three", "npm install", "served", "exit 0"]


def test_a_package_that_cannot_be_installed_is_named_and_the_server_starts_without_it(app: App) -> None:
    app.wants("react", "three")
    app.has("react")
    said = app.serve(npm_exit=1)
    assert said[-2:] == ["served", "exit 0"]
    assert "Not installed: three." in said[2]
    assert "sandbox.allow_hosts" in said[2]


def test_where_there_is_no_snapshot_all_are_installed_as_the_lock_file_says(app: App) -> None:
    app.wants("react")
    assert app.serve() == ["Installing: react", "npm ci", "served", "exit 0"]
    said = app.serve(npm_exit=1)
    assert said[-1] == "exit 1"
    assert "Allow its host in sandbox.allow_hosts" in said[-2]


def test_a_package_json_that_is_none_is_left_to_the_dev_server_to_complain_of(app: App) -> None:
    (app.folder / "package.json").write_text("{ oops")
    assert app.serve() == ["served", "exit 0"]


def test_without_node_it_says_so(app: App) -> None:
    (app.tools / "node").unlink()
    said = app.serve(beside="")
    assert said[-1] == "exit 1"
    assert "no Node.js" in said[0]


def test_templates_without_packages_are_served_as_they_are() -> None:
    template = replace(small_template(), layers=())
    assert dev_server(template) == template.service
    assert len(dev_server(small_template()).command) < COMMAND_CHARS / 2


def test_dev_servers_are_told_under_which_hosts_they_are_seen() -> None:
    assert preview_environment(SandboxSettings()) == {}
    named = preview_environment(SandboxSettings(preview_base_domain="Preview.example.com."))
    assert named == {"OUTLAST_PREVIEW_HOSTS": "*.preview.example.com"}

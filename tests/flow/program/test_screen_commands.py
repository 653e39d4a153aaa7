"""`outlast screens …` against a server."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from outlast.kernel.cli.exits import Exit
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]


def test_screens_are_made_looked_into_copied_and_removed(tmp_path: Path) -> None:
    file = tmp_path / "outlast.toml"
    local = 'provider = "local"\nmemory_mb = 512'
    file.write_text(CONFIG.format(folder=tmp_path / "data").replace('provider = "none"', local))
    with served(file) as url:
        assert "No screens" in outlast("screens", "list", url=url).stderr
        made = outlast("screens", "create", "My shop", "--template", "vite", "--theme", "rose", url=url)
        screen = made.stdout.strip()
        assert made.returncode == Exit.OK, made.stderr
        assert "rose" in outlast("screens", "list", url=url).stdout
        assert "app/page.tsx" in outlast("screens", "files", screen, url=url).stdout.splitlines()
        found = outlast("screens", "files", screen, "--search", "@import", url=url).stdout
        assert found.startswith("app/globals.css:1: @import")
        assert '"scripts"' in outlast("screens", "read", screen, "package.json", url=url).stdout
        target = tmp_path / "shop.zip"
        assert outlast("screens", "download", screen, str(target), url=url).stdout == f"{target}\n"
        with zipfile.ZipFile(target) as archive:
            assert "my-shop/package.json" in archive.namelist()
        assert "cyberpunk" in outlast("screens", "themes", url=url).stdout
        own = tmp_path / "own.json"
        own.write_text(json.dumps({"light": {"primary": "#123456"}, "dark": {}}))
        for name, shown in (("ocean", "ocean"), (str(own), "custom")):
            assert outlast("screens", "set-theme", screen, name, url=url).stdout == f"{screen}: {shown}\n"
        assert outlast("screens", "set-theme", screen, "nope", url=url).returncode == Exit.REFUSED
        styles = outlast("screens", "read", screen, "app/globals.css", url=url).stdout
        assert "--primary: #123456;" in styles
        copy = outlast("screens", "duplicate", screen, url=url).stdout.strip()
        outlast("screens", "rename", copy, "Another shop", url=url)
        assert json.loads(outlast("screens", "show", copy, "--json", url=url).stdout)["title"] == "Another shop"
        assert "No run has changed" in outlast("screens", "changes", copy, url=url).stderr
        assert outlast("screens", "delete", copy, url=url, stdin="n\n").returncode != Exit.OK
        assert outlast("screens", "delete", "--yes", copy, url=url).returncode == Exit.OK
        both = outlast("runs", "start", "hello", "--screen", screen, "--thread", "thr_x", url=url)
        assert both.returncode != Exit.OK
        assert "Give only one of" in both.stderr
        listed = json.loads(outlast("screens", "list", "--json", url=url).stdout)["items"]
        assert [item["id"] for item in listed] == [screen]

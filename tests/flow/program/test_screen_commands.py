"""`outlast screen …` against a server."""

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
        assert "No screens" in outlast("screen", "list", url=url).stderr
        made = outlast("screen", "create", "My shop", "--template", "vite", "--theme", "rose", url=url)
        screen = made.stdout.strip()
        assert made.returncode == Exit.OK, made.stderr
        assert "rose" in outlast("screen", "list", url=url).stdout
        assert "app/page.tsx" in outlast("screen", "files", screen, url=url).stdout.splitlines()
        found = outlast("screen", "files", screen, "--search", "@import", url=url).stdout
        assert found.startswith("app/globals.css:1: @import")
        assert '"scripts"' in outlast("screen", "cat", screen, "package.json", url=url).stdout
        target = tmp_path / "shop.zip"
        assert outlast("screen", "download", screen, str(target), url=url).stdout == f"{target}\n"
        with zipfile.ZipFile(target) as archive:
            assert "my-shop/package.json" in archive.namelist()
        assert "cyberpunk" in outlast("screen", "themes", url=url).stdout
        own = tmp_path / "own.json"
        own.write_text(json.dumps({"light": {"primary": "#123456"}, "dark": {}}))
        for name, shown in (("ocean", "ocean"), (str(own), "custom")):
            assert outlast("screen", "theme", screen, name, url=url).stdout == f"{screen}: {shown}\n"
        assert outlast("screen", "theme", screen, "nope", url=url).returncode == Exit.REFUSED
        styles = outlast("screen", "cat", screen, "app/globals.css", url=url).stdout
        assert "--primary: #123456;" in styles
        copy = outlast("screen", "duplicate", screen, url=url).stdout.strip()
        outlast("screen", "rename", copy, "Another shop", url=url)
        assert json.loads(outlast("screen", "show", copy, url=url).stdout)["title"] == "Another shop"
        assert "No run has changed" in outlast("screen", "changes", copy, url=url).stderr
        assert outlast("screen", "delete", copy, url=url, stdin="n\n").returncode != Exit.OK
        assert outlast("screen", "delete", "--yes", copy, url=url).returncode == Exit.OK
        both = outlast("run", "start", "hello", "--screen", screen, "--thread", "thr_x", url=url)
        assert both.returncode != Exit.OK
        assert "their own thread" in both.stderr
        listed = json.loads(outlast("screen", "list", "--json", url=url).stdout)["items"]
        assert [item["id"] for item in listed] == [screen]

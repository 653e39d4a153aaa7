"""`outlast memories …` against a server."""

from __future__ import annotations

import json
from pathlib import Path

from outlast.kernel.cli.exits import Exit
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast


def test_memories_are_added_listed_edited_and_deleted(tmp_path: Path) -> None:
    file = tmp_path / "outlast.toml"
    file.write_text(CONFIG.format(folder=tmp_path / "data"))
    with served(file) as url:
        assert "No memories" in outlast("memories", "list", url=url).stderr
        added = outlast("memories", "add", "We deploy on Fridays", "--for-everyone", url=url)
        assert added.returncode == Exit.OK, added.stderr
        own = outlast("memories", "add", "I like short answers", url=url).stdout.strip()
        memory = added.stdout.strip()
        assert outlast("memories", "edit", memory, "We deploy on Mondays", url=url).returncode == Exit.OK
        listed = json.loads(outlast("memories", "list", "--json", url=url).stdout)["items"]
        assert [(one["id"], one["text"]) for one in listed] == [(memory, "We deploy on Mondays")]
        assert "I like short answers" in outlast("memories", "list", "--scope", "person", url=url).stdout

        refused = outlast("memories", "add", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", url=url)
        assert refused.returncode == Exit.REFUSED
        assert "secret" in refused.stderr

        assert outlast("memories", "delete", own, url=url).returncode == Exit.OK
        assert json.loads(outlast("memories", "list", "--scope", "person", "--json", url=url).stdout)["items"] == []

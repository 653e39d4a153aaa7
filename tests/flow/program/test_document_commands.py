"""`outlast documents …` and `outlast proposals …` against a server with the demo model."""

from __future__ import annotations

import json
from pathlib import Path

from outlast.kernel.cli.exits import Exit
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast

PLAN = """# Launch plan

## Summary

In order to make sure that the launch goes well, we are going to begin in Lisbon, due to the fact that most of our very
first customers are actually located there.

## Steps

It is important to note that the team will basically need to finish the tiles in advance before the month of March.
"""


def test_documents_are_made_shown_changed_compared_and_restored(tmp_path: Path) -> None:
    file = tmp_path / "outlast.toml"
    file.write_text(CONFIG.format(folder=tmp_path / "data"))
    plan, more = tmp_path / "plan.md", tmp_path / "more.md"
    plan.write_text(PLAN)
    more.write_text("## Risks\n\nRain.\n")
    with served(file) as url:
        assert "No documents" in outlast("documents", "list", url=url).stderr
        made = outlast("documents", "create", "--markdown", str(plan), url=url)
        document = made.stdout.strip()
        assert made.returncode == Exit.OK, made.stderr
        assert "Launch plan" in outlast("documents", "list", url=url).stdout
        assert outlast("documents", "show", document, url=url).stdout == PLAN

        assert "version 2" in outlast("documents", "import", document, str(more), url=url).stdout
        shown = outlast("documents", "diff", document, "1", url=url).stdout
        assert "+## Risks" in shown
        assert "+Rain." in shown
        history = json.loads(outlast("documents", "versions", document, "--json", url=url).stdout)["items"]
        assert [one["kind"] for one in history] == ["import", "created"]
        swapped = outlast("documents", "import", document, str(more), "--replace", url=url)
        assert "version 3" in swapped.stdout, swapped.stderr
        outlast("documents", "restore", document, "1", url=url)
        assert outlast("documents", "show", document, url=url).stdout == PLAN

        outlast("documents", "rename", document, "The plan", url=url)
        whole = json.loads(outlast("documents", "show", document, "--json", url=url).stdout)
        assert whole["title"] == "The plan"
        said = outlast("documents", "comment", document, "Too long", "--section", whole["sections"][1]["id"], url=url)
        assert said.returncode == Exit.OK, said.stderr
        assert "Too long" in outlast("documents", "comments", document, url=url).stdout

        started = outlast("runs", "start", "Tighten this document", "--document", document, url=url)
        assert started.returncode == Exit.OK, started.stderr
        (row,) = json.loads(outlast("proposals", "list", document, "--json", url=url).stdout)["items"]
        first, *_rest = row["edits"]
        assert first["id"] in outlast("proposals", "show", row["id"], url=url).stdout
        accepted = outlast("proposals", "accept", first["id"], "--text", "We begin in Lisbon.", url=url)
        assert accepted.returncode == Exit.OK, accepted.stderr
        assert "We begin in Lisbon." in outlast("documents", "show", document, url=url).stdout
        assert outlast("proposals", "accept", first["id"], url=url).returncode == Exit.REFUSED
        assert outlast("proposals", "reject", row["id"], url=url).returncode == Exit.OK
        assert "No proposals" in outlast("proposals", "list", document, url=url).stderr

        assert outlast("documents", "delete", document, url=url, stdin="n\n").returncode != Exit.OK
        assert outlast("documents", "delete", "--yes", document, url=url).returncode == Exit.OK
        assert "No documents" in outlast("documents", "list", url=url).stderr

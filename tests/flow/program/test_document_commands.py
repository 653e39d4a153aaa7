"""`outlast document …` and `outlast proposal …` against a server with the demo model."""

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
        assert "No documents" in outlast("document", "list", url=url).stderr
        made = outlast("document", "new", "--markdown", str(plan), url=url)
        document = made.stdout.strip()
        assert made.returncode == Exit.OK, made.stderr
        assert "Launch plan" in outlast("document", "list", url=url).stdout
        assert outlast("document", "show", document, url=url).stdout == PLAN

        assert "version 2" in outlast("document", "import", document, str(more), url=url).stdout
        shown = outlast("document", "diff", document, "1", url=url).stdout
        assert "+## Risks" in shown
        assert "+Rain." in shown
        history = json.loads(outlast("document", "versions", document, "--json", url=url).stdout)["items"]
        assert [one["kind"] for one in history] == ["import", "created"]
        swapped = outlast("document", "import", document, str(more), "--replace", url=url)
        assert "version 3" in swapped.stdout, swapped.stderr
        outlast("document", "restore", document, "1", url=url)
        assert outlast("document", "show", document, url=url).stdout == PLAN

        outlast("document", "rename", document, "The plan", url=url)
        whole = json.loads(outlast("document", "show", document, "--json", url=url).stdout)
        assert whole["title"] == "The plan"
        said = outlast(
            "document", "comment", document, "Too long", "--section", whole["sections"][1]["id"], url=url
        )
        assert said.returncode == Exit.OK, said.stderr
        assert "Too long" in outlast("document", "comments", document, url=url).stdout

        started = outlast("run", "start", "Tighten this document", "--document", document, url=url)
        assert started.returncode == Exit.OK, started.stderr
        (row,) = json.loads(outlast("proposal", "list", document, "--json", url=url).stdout)["items"]
        first, *_rest = row["edits"]
        assert first["id"] in outlast("proposal", "show", row["id"], url=url).stdout
        accepted = outlast("proposal", "accept", first["id"], "--text", "We begin in Lisbon.", url=url)
        assert accepted.returncode == Exit.OK, accepted.stderr
        assert "We begin in Lisbon." in outlast("document", "show", document, url=url).stdout
        assert outlast("proposal", "accept", first["id"], url=url).returncode == Exit.REFUSED
        assert outlast("proposal", "reject", row["id"], url=url).returncode == Exit.OK
        assert "Nothing is proposed" in outlast("proposal", "list", document, url=url).stderr

        assert outlast("document", "delete", document, url=url, stdin="n\n").returncode != Exit.OK
        assert outlast("document", "delete", "--yes", document, url=url).returncode == Exit.OK
        assert "No documents" in outlast("document", "list", url=url).stderr

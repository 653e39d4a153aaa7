"""`outlast pages …` against a server."""

from __future__ import annotations

import json
from pathlib import Path

from outlast.kernel.cli.exits import Exit
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast

BUTTON = '<button data-action="refresh">Refresh</button>'


def test_pages_are_made_acted_on_taken_back_shown_and_removed(tmp_path: Path) -> None:
    file = tmp_path / "outlast.toml"
    file.write_text(CONFIG.format(folder=tmp_path / "data"))
    first = tmp_path / "first.html"
    first.write_text('<h1 id="title">Open <script>alert(1)</script>issues</h1>' + BUTTON)
    with served(file) as url:
        assert "No pages" in outlast("pages", "list", url=url).stderr
        made = outlast("pages", "create", "Issues", "--html", str(first), url=url)
        page = made.stdout.strip()
        assert made.returncode == Exit.OK, made.stderr
        assert "Issues" in outlast("pages", "list", url=url).stdout
        html = outlast("pages", "show", page, "--html", url=url).stdout
        assert html == f'<h1 id="title">Open issues</h1>{BUTTON}\n'

        acted = outlast("pages", "act", page, "refresh", "--data", '{"state":"open"}', "--detach", url=url)
        assert acted.returncode == Exit.OK, acted.stderr
        outlast("runs", "follow", acted.stdout.strip(), url=url)
        assert "refresh" in outlast("pages", "actions", page, url=url).stdout
        wrong = outlast("pages", "act", page, "refresh", "--data", "[1]", url=url)
        assert "not a JSON object" in wrong.stderr
        assert outlast("pages", "act", page, "No Name", url=url).returncode == Exit.REFUSED
        assert "run" in outlast("runs", "start", "hello", "--page", page, "--detach", url=url).stdout
        both = outlast("runs", "start", "hello", "--page", page, "--thread", "thr_x", url=url)
        assert "Give only one of" in both.stderr

        listed = json.loads(outlast("pages", "versions", page, "--json", url=url).stdout)["items"]
        assert (listed[-1]["version"], listed[-1]["kind"]) == (1, "created")
        outlast("pages", "rename", page, "Bugs", url=url)
        assert json.loads(outlast("pages", "show", page, "--json", url=url).stdout)["title"] == "Bugs"

        link = outlast("pages", "share", page, "--name", "wiki", "--days", "7", url=url).stdout.strip()
        assert "/embed/olp_" in link
        rows = json.loads(outlast("pages", "links", page, "--json", url=url).stdout)["items"]
        assert [row["name"] for row in rows] == ["wiki"]
        assert outlast("pages", "unshare", page, rows[0]["id"], url=url).returncode == Exit.OK
        assert "No links" in outlast("pages", "links", page, url=url).stderr

        copy = outlast("pages", "duplicate", page, url=url).stdout.strip()
        assert outlast("pages", "show", copy, "--html", url=url).stdout
        assert outlast("pages", "delete", copy, url=url, stdin="n\n").returncode != Exit.OK
        assert outlast("pages", "delete", "--yes", copy, url=url).returncode == Exit.OK
        remaining = json.loads(outlast("pages", "list", "--json", url=url).stdout)["items"]
        assert [item["id"] for item in remaining] == [page]

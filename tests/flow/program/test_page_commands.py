"""`outlast page …` against a server."""

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
        assert "No pages" in outlast("page", "list", url=url).stderr
        made = outlast("page", "new", "Issues", "--html", str(first), url=url)
        page = made.stdout.strip()
        assert made.returncode == Exit.OK, made.stderr
        assert "Issues" in outlast("page", "list", url=url).stdout
        html = outlast("page", "show", page, "--html", url=url).stdout
        assert html == f'<h1 id="title">Open issues</h1>{BUTTON}\n'

        acted = outlast("page", "act", page, "refresh", "--data", '{"state":"open"}', "--detach", url=url)
        assert acted.returncode == Exit.OK, acted.stderr
        outlast("run", "follow", acted.stdout.strip(), url=url)
        assert "refresh" in outlast("page", "actions", page, url=url).stdout
        wrong = outlast("page", "act", page, "refresh", "--data", "[1]", url=url)
        assert "no JSON object" in wrong.stderr
        assert outlast("page", "act", page, "No Name", url=url).returncode == Exit.REFUSED
        assert "run" in outlast("run", "start", "hello", "--page", page, "--detach", url=url).stdout
        both = outlast("run", "start", "hello", "--page", page, "--thread", "thr_x", url=url)
        assert "their own thread" in both.stderr

        listed = json.loads(outlast("page", "versions", page, "--json", url=url).stdout)["items"]
        assert (listed[-1]["version"], listed[-1]["kind"]) == (1, "created")
        outlast("page", "rename", page, "Bugs", url=url)
        assert json.loads(outlast("page", "show", page, url=url).stdout)["title"] == "Bugs"

        link = outlast("page", "link", page, "--name", "wiki", "--days", "7", url=url).stdout.strip()
        assert "/embed/olp_" in link
        rows = json.loads(outlast("page", "links", page, "--json", url=url).stdout)["items"]
        assert [row["name"] for row in rows] == ["wiki"]
        assert outlast("page", "unlink", page, rows[0]["id"], url=url).returncode == Exit.OK
        assert "No links" in outlast("page", "links", page, url=url).stderr

        copy = outlast("page", "duplicate", page, url=url).stdout.strip()
        assert outlast("page", "show", copy, "--html", url=url).stdout
        assert outlast("page", "delete", copy, url=url, stdin="n\n").returncode != Exit.OK
        assert outlast("page", "delete", "--yes", copy, url=url).returncode == Exit.OK
        remaining = json.loads(outlast("page", "list", "--json", url=url).stdout)["items"]
        assert [item["id"] for item in remaining] == [page]

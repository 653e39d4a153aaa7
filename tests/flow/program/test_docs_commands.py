"""`outlast docs …` against a server."""

from __future__ import annotations

import json
from pathlib import Path

from outlast.kernel.cli.exits import Exit
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast

GUIDE = "# Tracker\n\nTalks to it.\n\n## Create\n\nCall `create`.\n"


def test_documentation_is_added_listed_searched_read_again_and_removed(tmp_path: Path) -> None:
    file = tmp_path / "outlast.toml"
    file.write_text(CONFIG.format(folder=tmp_path / "data"))
    docs = tmp_path / "docs"
    (docs / "deep").mkdir(parents=True)
    (docs / "guide.md").write_text(GUIDE)
    (docs / "deep/types.d.ts").write_text("/** Talks. */\nexport declare class Tracker {}\n")
    (docs / "picture.png").write_bytes(b"\x89PNG")
    with served(file) as url:
        assert outlast("docs", "list", url=url).returncode == Exit.OK

        added = outlast("docs", "add", "tracker", str(docs), url=url)
        assert added.returncode == Exit.OK, added.stderr
        assert "ready, 2 passages" in added.stdout
        listed = json.loads(outlast("docs", "list", "--json", url=url).stdout)["items"]
        ours = {one["location"] for one in listed if one["package"] == "tracker"}
        assert ours == {"docs/guide.md", "docs/deep/types.d.ts"}

        found = outlast("docs", "search", "create", "an", "issue", "--package", "tracker", url=url)
        assert "Tracker › Create" in found.stdout

        (docs / "guide.md").write_text(GUIDE + "\n## More\n\nText.\n")
        again = outlast("docs", "add", "tracker", str(docs / "guide.md"), "--json", url=url)
        assert json.loads(again.stdout)["passages"] == 3

        refused = outlast("docs", "add", "tracker", "/nowhere/guide.md", url=url)
        assert refused.returncode == Exit.REFUSED
        assert "does not read its own files" in refused.stderr
        private = outlast("docs", "add", "tracker", f"{url}/v1/me", url=url)
        assert "private address" in private.stderr

        guide = next(one["id"] for one in listed if one["location"] == "docs/guide.md")
        assert outlast("docs", "refresh", guide, url=url).returncode == Exit.REFUSED
        assert outlast("docs", "delete", guide, url=url).returncode == Exit.OK
        left = json.loads(outlast("docs", "list", "--json", url=url).stdout)["items"]
        assert guide not in {one["id"] for one in left}

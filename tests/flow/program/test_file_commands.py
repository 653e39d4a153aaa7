"""`outlast files …` against a server, which reads what it is given by itself."""

from __future__ import annotations

import json
from pathlib import Path

from outlast.kernel.cli.exits import Exit
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast
from tests.pdfs import pdf


def test_files_are_added_read_found_saved_and_removed(tmp_path: Path) -> None:
    file = tmp_path / "outlast.toml"
    file.write_text(CONFIG.format(folder=tmp_path / "data"))
    report, notes, program = tmp_path / "report.pdf", tmp_path / "notes.md", tmp_path / "a.bin"
    report.write_bytes(pdf("Weather in Lisbon", "Prices of tiles"))
    notes.write_text("# Rollout\n\nIt begins in March.\n")
    program.write_bytes(b"MZ\x90\x00\x03")
    with served(file) as url:
        assert "No files" in outlast("files", "list", url=url).stderr
        added = outlast("files", "add", str(report), str(notes), url=url)
        assert added.returncode == Exit.OK, added.stderr
        first, second = added.stdout.split()
        states = json.loads(outlast("files", "list", "--json", url=url).stdout)["items"]
        assert {one["name"]: one["state"] for one in states} == {"report.pdf": "ready", "notes.md": "ready"}
        assert outlast("files", "read", first, "--page", "2", url=url).stdout.strip() == "Prices of tiles"
        assert "report.pdf, page 2" in outlast("files", "search", "tiles", url=url).stdout
        assert "notes.md" in outlast("files", "search", "when does the rollout begin", url=url).stdout

        copy = tmp_path / "copy.pdf"
        assert outlast("files", "download", first, str(copy), url=url).returncode == Exit.OK
        assert copy.read_bytes() == report.read_bytes()
        refused = outlast("files", "add", str(program), url=url)
        assert refused.returncode == Exit.REFUSED
        assert "PDF" in refused.stderr

        assert outlast("files", "delete", second, url=url).returncode == Exit.OK
        assert "Nothing found" in outlast("files", "search", "rollout", url=url).stderr

"""`outlast skills …` against a server of its own process, with a folder of skills in its configuration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast
from tests.flow.skills.stages import GREET, main

pytestmark = pytest.mark.timeout(180)


def test_skills_are_added_shown_switched_replaced_and_deleted_from_a_shell(tmp_path: Path) -> None:
    config = tmp_path / "outlast.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "data") + '[skills]\nfolder = "ours"\n')
    shared, mine = tmp_path / "ours" / "wave", tmp_path / "greet"
    for folder, name in ((shared, "wave"), (mine, "greet")):
        (folder / "scripts").mkdir(parents=True)
        (folder / "SKILL.md").write_bytes(main(name))
        (folder / "scripts" / "greet.sh").write_bytes(GREET)
    with served(config) as address:

        def run(*words: str, code: int = 0) -> str:
            done = outlast("skills", *words, url=address)
            assert done.returncode == code, done
            return done.stderr if code else done.stdout

        def listed() -> dict[str, tuple[bool, bool]]:
            found = json.loads(run("list", "--json"))["items"]
            return {one["name"]: (one["of_server"], one["enabled"]) for one in found}

        assert run("create", str(mine)).split() == ["greet"]
        assert listed() == {"greet": (False, True), "wave": (True, True)}
        assert "Run scripts/greet.sh NAME." in run("show", "greet")
        assert run("show", "greet", "scripts/greet.sh") == GREET.decode()
        run("disable", "wave")
        assert listed()["wave"] == (True, False)
        run("enable", "wave")
        assert "Replace it" in run("create", str(mine), code=3)
        run("create", str(mine), "--replace")
        (mine / "passwd").symlink_to("/etc/passwd")
        assert "passwd is a link" in run("create", str(mine), "--replace", code=3)
        assert "Turn it off in the project" in run("delete", "wave", code=3)
        run("delete", "greet")
        assert listed() == {"wave": (True, True)}

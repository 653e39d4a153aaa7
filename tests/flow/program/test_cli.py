"""The command `outlast`, as a person or a script calls it: what it prints and its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pytest

from outlast.kernel.cli.exits import Exit
from outlast.kernel.settings import Settings
from outlast.surfaces.cli.main import Announce, run_cli
from tests.flow.program.serving import CONFIG, served


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def outlast(*arguments: str, url: str = "", stdin: str = "", **environ: str) -> Done:
    """The command in this process, with an environment, input and output of its own: a new one takes a second."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
    plain |= {"XDG_CONFIG_HOME": "/nonexistent"} | ({"OUTLAST_URL": url} if url else {})
    code, out, err = 0, StringIO(), StringIO()
    with (
        patch.dict(os.environ, plain | environ, clear=True),
        patch("sys.stdin", StringIO(stdin)),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            run_cli(_no_server, list(arguments))
        except SystemExit as ending:
            code = int(ending.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


def _no_server(_settings: Settings, _announce: Announce, _http: bool) -> None:
    raise AssertionError("a server is started in a process of its own")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    file = folder / "outlast.toml"
    file.write_text(CONFIG.format(folder=folder / "data"))
    return file


@pytest.fixture(scope="module")
def server(config: Path) -> Iterator[str]:
    with served(config) as address:
        yield address


def test_a_run_is_started_and_shown_to_its_end(server: str):
    done = outlast("runs", "start", "Hello", url=server)
    assert done.returncode == Exit.OK, done.stderr
    assert "completed" in done.stdout
    assert "run_" in done.stderr


def test_events_come_as_json_for_programs(server: str):
    done = outlast("runs", "start", "--json", "-", url=server, stdin="Hello")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[-1]["event"] == "stream.ended"


def test_a_detached_run_is_found_followed_and_exported(server: str, tmp_path: Path):
    run_id = outlast("runs", "start", "--detach", "Hello", url=server).stdout.strip()
    assert outlast("runs", "follow", run_id, url=server).returncode == Exit.OK
    assert run_id in outlast("runs", "list", url=server).stdout
    assert outlast("runs", "export", run_id, "--out", str(tmp_path / "run.json"), url=server).returncode == Exit.OK
    assert json.loads((tmp_path / "run.json").read_text())["run"]["id"] == run_id


def test_a_message_to_a_run_that_has_ended_is_refused_with_what_to_do(server: str):
    run_id = outlast("runs", "start", "--detach", "Hello", url=server).stdout.strip()
    outlast("runs", "follow", run_id, url=server)
    refused = outlast("runs", "steer", run_id, "In French", url=server)
    assert refused.returncode == Exit.REFUSED
    assert "has already ended" in refused.stderr
    assert "send a new message" in refused.stderr


def test_lists_are_given_as_tables_and_as_json(server: str):
    assert outlast("runs", "start", "--detach", "Hello", url=server).returncode == Exit.OK
    assert "prj_" in outlast("projects", "list", url=server).stdout
    assert json.loads(outlast("threads", "list", "--json", url=server).stdout)["items"]


def test_what_the_server_refuses_is_told_in_words(server: str):
    refused = outlast("runs", "follow", "run_none", url=server)
    assert refused.returncode == Exit.REFUSED
    assert "not_found" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_no_server_is_told_with_what_to_do():
    refused = outlast("runs", "list", url="http://127.0.0.1:1")
    assert refused.returncode == Exit.UNREACHABLE
    assert "outlast serve" in refused.stderr


def test_a_token_is_made_beside_the_server_and_signs_in(server: str, config: Path):
    made = outlast("tokens", "create", "--new-user", "Ada", "--config", str(config))
    token = made.stdout.strip()
    assert token.startswith("ol_")
    assert "prj_" in outlast("projects", "list", url=server, OUTLAST_TOKEN=token).stdout
    assert "tok_" in outlast("tokens", "list", "--user", "Ada", "--config", str(config)).stdout


def test_the_search_index_is_made_anew_beside_the_server(server: str, config: Path):
    rebuilt = outlast("rebuild-search", "--config", str(config))
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert "entries" in rebuilt.stdout


def test_a_second_server_on_the_folder_names_the_first(server: str, config: Path):
    command = [sys.executable, "-m", "outlast", "serve", "--config", str(config)]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == Exit.REFUSED_TO_START
    assert "in use by another Outlast process" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_good_configuration_is_told_what_it_means(config: Path):
    told = outlast("check-config", str(config))
    assert told.returncode == Exit.OK
    assert "demo" in told.stdout


def test_a_bad_configuration_is_refused_with_its_line(tmp_path: Path):
    bad = tmp_path / "bad.toml"
    bad.write_text("[runs]\napproval_pause_after_s = 90000\n[sandbox]\n")
    told = outlast("check-config", str(bad))
    assert told.returncode == Exit.REFUSED_TO_START
    assert "bad.toml:2" in told.stderr
    assert "sandbox.idle_pause_s" in told.stderr


@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        ("outlast ru", "runs"),
        ("outlast runs ca", "cancel"),
        ("outlast run ca", "cancel"),
        ("outlast runs list --st", "--status"),
        ("outlast runs list --status qu", "queued"),
    ],
)
def test_a_shell_completes_nouns_verbs_options_and_choices(words: str, proposed: str):
    asked = {"_OUTLAST_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    assert outlast(**asked).stdout.split() == [proposed]


def test_a_run_is_shown_in_a_few_lines_and_whole_as_json(server: str):
    run_id = outlast("runs", "start", "--detach", "Hello", url=server).stdout.strip()
    outlast("runs", "follow", run_id, url=server)
    short = outlast("runs", "show", run_id, url=server).stdout
    assert "completed (end)" in short
    assert len(short.splitlines()) < 30
    assert json.loads(outlast("runs", "show", run_id, "--json", url=server).stdout)["id"] == run_id


def test_help_names_every_command_and_exit_code():
    told = outlast("--help").stdout
    for word in ("serve", "worker", "doctor", "tokens", "runs", "login", "status", "logs", "Exit codes", "130"):
        assert word in told


def test_a_start_loads_no_library_that_it_may_never_need() -> None:
    """Each costs every start: Alembic where nothing is missing, readers of documents that nobody gave it, SDKs."""
    seldom = {"alembic", "asyncpg", "bs4", "markdown_it", "markdownify", "pydantic_ai", "pypdf"}
    code = f"import sys, outlast.app; print(sorted({seldom!r} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"

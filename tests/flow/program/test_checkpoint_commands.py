"""`outlast checkpoints …` against a server with a real sandbox."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from outlast.kernel.cli.exits import Exit
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]


def test_the_files_of_a_thread_are_listed_compared_brought_back_and_given_up(tmp_path: Path) -> None:
    file = tmp_path / "outlast.toml"
    local = 'provider = "local"\nmemory_mb = 512'
    file.write_text(CONFIG.format(folder=tmp_path / "data").replace('provider = "none"', local))
    with served(file) as url:
        for subject in ("primes", "fibonacci"):
            told = outlast("runs", "start", "--follow", f"Write a program about {subject}", url=url, stdin="")
            assert told.returncode == Exit.OK, told.stderr
        threads = json.loads(outlast("threads", "list", "--json", url=url).stdout)["items"]
        [primes] = [item["id"] for item in threads if "primes" in item["title"]]
        listed = json.loads(outlast("checkpoints", "list", primes, "--json", url=url).stdout)["items"]
        mine = next(item for item in listed if item["message_id"] is not None)
        assert mine["id"] in outlast("checkpoints", "list", primes, url=url).stdout
        shown = outlast("checkpoints", "diff", mine["id"], url=url).stdout
        assert "+++ b/primes.py" in shown
        assert outlast("checkpoints", "diff", "--names", mine["id"], url=url).stdout == "+ primes.py\n"
        asked = outlast("checkpoints", "restore", mine["id"], url=url, stdin="n\n")
        assert asked.returncode != Exit.OK
        done = outlast("checkpoints", "restore", "--yes", mine["id"], url=url)
        assert done.stdout.endswith("1 file\n")
        assert "restore" in outlast("checkpoints", "list", primes, url=url).stdout
        assert outlast("checkpoints", "diff", "ckp_none", url=url).returncode == Exit.REFUSED
        assert outlast("checkpoints", "reset", primes, url=url, stdin="n\n").returncode != Exit.OK
        assert outlast("checkpoints", "reset", "--yes", primes, url=url).stdout.endswith("0 files\n")

"""`outlast schedules …` against a server, and the schedules of its agents' code."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from outlast.kernel.cli.exits import Exit
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast

AGENTS = """\
from outlast import Agent

watch = Agent("watch", title="Watch", schedule="{cron}")
"""


def listed(url: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(outlast("schedules", "list", "--json", url=url).stdout)["items"]
    return found


def test_schedules_are_made_shown_changed_run_and_deleted(tmp_path: Path) -> None:
    file = tmp_path / "outlast.toml"
    file.write_text(CONFIG.format(folder=tmp_path / "data"))
    with served(file) as url:
        assert "No schedules" in outlast("schedules", "list", url=url).stderr
        options = ("--cron", "0 8 * * 1-5", "--zone", "Europe/Berlin")
        made = outlast("schedules", "create", "Sum up the night.", *options, url=url)
        assert made.returncode == Exit.OK, made.stderr
        schedule = made.stdout.strip()
        (one,) = listed(url)
        assert (one["id"], one["title"], one["zone"]) == (schedule, "Sum up the night.", "Europe/Berlin")
        shown = outlast("schedules", "show", schedule, url=url).stdout
        assert "0 8 * * 1-5" in shown
        assert "Europe/Berlin" in shown

        refused = outlast("schedules", "update", schedule, "--cron", "0 25 * * *", url=url)
        assert refused.returncode == Exit.REFUSED
        assert "invalid_cron" in refused.stderr
        assert outlast("schedules", "update", schedule, "--title", "Morning", url=url).returncode == Exit.OK
        assert outlast("schedules", "pause", schedule, url=url).returncode == Exit.OK
        assert "paused" in outlast("schedules", "list", url=url).stdout
        assert outlast("schedules", "resume", schedule, url=url).returncode == Exit.OK

        ran = outlast("schedules", "run", schedule, url=url)
        assert ran.returncode == Exit.OK, ran.stderr
        (one,) = listed(url)
        assert (one["title"], one["last_run"]["status"]) == ("Morning", "completed")
        assert outlast("schedules", "delete", schedule, url=url).returncode == Exit.OK
        assert listed(url) == []


def test_schedules_follow_the_code_that_is_saved(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    code, config = tmp_path / "agents" / "shop.py", tmp_path / "outlast.toml"
    code.write_text(AGENTS.format(cron="0 8 * * *"))
    config.write_text(CONFIG.format(folder=tmp_path / "data"))

    def until(crons: list[str], url: str) -> None:
        until_s, found = time.monotonic() + 60, None
        while found != crons and time.monotonic() < until_s:
            found = [one["cron"] for one in listed(url)]
        assert found == crons

    with served(config, "dev") as url:
        until(["0 8 * * *"], url)
        code.write_text(AGENTS.format(cron="0 9 * * *"))
        until(["0 9 * * *"], url)
        code.write_text("from outlast import Agent\nwatch = Agent('watch', schedule='0 9 * *')\n")
        assert "problem" in outlast("agents", "list", "--json", url=url).stdout
        code.write_text("")
        until([], url)

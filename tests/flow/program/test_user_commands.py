"""`outlast users …` on a data directory, beside no server."""

from __future__ import annotations

from pathlib import Path

from outlast.kernel.cli.exits import Exit
from tests.flow.program.test_cli import outlast


def test_a_user_is_made_moved_given_credits_and_made_an_administrator(tmp_path: Path) -> None:
    here = ("--data-dir", str(tmp_path))
    assert outlast("tokens", "create", *here).returncode == Exit.OK  # the owner of local mode, and its database
    made = outlast("users", "create", "Grace", "--plan", "starter", *here)
    assert made.returncode == Exit.OK, made.stderr
    assert "starter" in made.stdout
    assert "35" in outlast("users", "grant", "Grace", "10", *here).stdout
    assert "pro" in outlast("users", "set-plan", "Grace", "pro", *here).stdout
    assert "administrator" in outlast("users", "set-admin", "Grace", *here).stdout
    assert outlast("users", "set-admin", "Owner", "--remove", *here).returncode == Exit.OK
    last = outlast("users", "set-admin", "Grace", "--remove", *here)
    assert last.returncode != Exit.OK
    assert "only administrator" in last.stderr
    listed = outlast("users", "list", *here).stdout
    assert "Grace" in listed
    assert "Owner" in listed


def test_an_unknown_user_or_plan_changes_nothing_and_says_why(tmp_path: Path) -> None:
    here = ("--data-dir", str(tmp_path))
    assert outlast("tokens", "create", *here).returncode == Exit.OK
    unknown = outlast("users", "set-plan", "Nobody", "pro", *here)
    assert "Nobody" in unknown.stderr
    refused = outlast("users", "set-plan", "Owner", "gold", *here)
    assert "There is no plan with this name" in refused.stderr

"""Every role against every right, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from outlast.base.errors import Forbidden, NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.projects.permissions import require, require_run, require_thread
from outlast.kernel.projects.rules import Right
from tests.factories import Team, make_run

ALLOWED = {"owner": {Right.READ, Right.EDIT, Right.OWN}, "editor": {Right.READ, Right.EDIT}, "viewer": {Right.READ}}


def attempt(call: Callable[..., Any], *arguments: Any) -> str:
    try:
        call(*arguments)
    except Forbidden as refused:
        return f"takes {refused.fields['needed']}"
    except NotFound:
        return "not found"
    return "allowed"


def expected(role: str, right: Right) -> str:
    if role == "stranger":
        return "not found"
    return "allowed" if right in ALLOWED[role] else f"takes {'owner' if right is Right.OWN else 'editor'}"


async def test_each_role_has_exactly_its_rights_on_projects_threads_and_runs(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        run_id = make_run(tx, team.thread_id, team.owner)
        for role, actor in team.by_role().items():
            for right in Right:
                assert attempt(require, tx, actor, team.project_id, right) == expected(role, right)
                assert attempt(require_thread, tx, actor, team.thread_id, right) == expected(role, right)
                assert attempt(require_run, tx, actor, run_id, right) == expected(role, right)

    await db.write(run)


async def test_a_stranger_cannot_tell_a_foreign_thread_from_none(db: Database) -> None:
    def messages(tx: Tx) -> tuple[str, str]:
        team = Team(tx)
        told = []
        for thread_id in (team.thread_id, "thr_none"):
            with pytest.raises(NotFound) as refused:
                require_thread(tx, team.stranger, thread_id, Right.READ)
            told.append(str(refused.value).replace(thread_id, "…"))
        return told[0], told[1]

    foreign, none = await db.write(messages)
    assert foreign == none

"""Statements are compiled once, and those that are made anew each time do not fill the memory."""

from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from outlast.db import prepared as module
from outlast.db.prepared import PreparedStatements
from outlast.db.sqlite import SqliteDriver

notes = sa.Table("notes", sa.MetaData(), sa.Column("text", sa.Text))


def made_anew() -> sa.Select[Any]:
    return sa.select(notes).where(notes.c.text == sa.bindparam("wanted"))


def test_a_statement_is_compiled_once_for_the_same_parameters() -> None:
    statements, statement = PreparedStatements(sqlite.dialect(), SqliteDriver()), made_anew()
    assert statements.of(statement, {"wanted": "a"}) is statements.of(statement, {"wanted": "b"})


def test_statements_that_are_made_anew_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PREPARED", 5)
    monkeypatch.setattr(module, "_known", {})
    statements = PreparedStatements(sqlite.dialect(), SqliteDriver())
    for _ in range(30):
        assert statements.of(made_anew(), {"wanted": "a"})
        assert len(module._known) <= 5


def test_a_list_that_grows_with_its_values_is_not_prepared() -> None:
    grows = sa.select(notes).where(notes.c.text.in_(sa.bindparam("wanted", expanding=True)))
    assert PreparedStatements(sqlite.dialect(), SqliteDriver()).of(grows, {"wanted": ["a"]}) is None

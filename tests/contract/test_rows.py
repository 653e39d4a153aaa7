"""Rows are typed: a class beside each table, with the table's columns."""

from __future__ import annotations

import importlib

import pytest
import sqlalchemy as sa

from scripts import rows

MODULES = rows.table_modules()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.parent.name)
def test_whole_rows_are_generated_from_the_tables_beside_them(path) -> None:
    assert path.read_text("utf-8") == rows.render(importlib.import_module(MODULES[path])), "run 'make gen'"


@pytest.mark.parametrize(
    ("table", "name"), [("page_versions", "PageVersionRow"), ("memories", "MemoryRow"), ("sandboxes", "SandboxRow")]
)
def test_a_rows_class_is_named_in_the_singular(table: str, name: str) -> None:
    assert rows.class_name(table) == name


def test_a_column_of_few_words_has_them_as_its_type() -> None:
    few = sa.Column("state", sa.String(80), info={"values": ("open", "closed")})
    many = sa.Column("state", sa.String(80), info={"values": tuple(f"state_{number}" for number in range(20))})
    assert rows.python_type(few) == 'Literal["open", "closed"]'
    assert rows.python_type(many).splitlines()[1] == '        "state_0",'


def test_a_nullable_column_may_be_none() -> None:
    assert rows.python_type(sa.Column("name", sa.Text)) == "str | None"
    assert rows.python_type(sa.Column("name", sa.Text, nullable=False)) == "str"

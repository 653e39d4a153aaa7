"""Migrations only expand the tables, or say which servers still work after them: then old and new servers run side by
side while a deployment is upgraded."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from outlast.base.clock import SystemClock
from outlast.db.connect import BASE, MIGRATIONS, open_database, revisions
from outlast.db.database import Tx
from outlast.testing.postgres import PostgresServer
from tests.store.schema_changes import contractions, shapes

pytestmark = [pytest.mark.postgres]
EXPANDS, CONTRACTS = "Runs: before deploy", "Runs: after deploy"
# Migrations from before the rule. Servers at BASE or newer never meet what they took away.
BEFORE_THE_RULE = {
    "0033": ["secrets: unique over name where ((project_id IS NULL) AND (owner_id IS NULL))"],
    "0034": [
        "mcp_servers: unique over name where ((project_id IS NULL) AND (owner_id IS NULL) AND (code_key IS NULL))"
    ],
}


def declared(revision: str) -> tuple[str, str | None]:
    """The last line of a migration's description, and its `compatible_from`."""
    (path,) = (MIGRATIONS / "versions").glob(f"{revision}_*.py")
    tree = ast.parse(path.read_text())
    named = {
        target.id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in ("revision", "compatible_from")
    }
    return (ast.get_docstring(tree) or "").splitlines()[-1], named.get("compatible_from")


async def steps(url: str) -> dict[str, list[str]]:
    """Every migration after the first, on PostgreSQL, with what it contracts."""

    def walk(tx: Tx) -> dict[str, list[str]]:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = tx.conn
        first, *others = revisions()
        command.upgrade(config, first)
        found, before = {}, shapes(tx.conn)
        for revision in others:
            command.upgrade(config, revision)
            after = shapes(tx.conn)
            found[revision], before = contractions(before, after), after
        return found

    database = open_database(url, Path("/"), SystemClock())
    try:
        return await database.write(walk)
    finally:
        await database.aclose()


async def test_every_migration_since_the_rule_expands_or_says_which_servers_work_after_it(
    postgres: PostgresServer,
) -> None:
    connection = await asyncpg.connect(postgres.url("postgres"))
    try:
        await connection.execute("CREATE DATABASE expanding")
        found = await steps(postgres.url("expanding"))
    finally:
        await connection.close()
    assert {revision: changes for revision, changes in found.items() if changes and revision <= BASE} == BEFORE_THE_RULE
    for revision in (one for one in found if one > BASE):
        kind, compatible_from = declared(revision)
        if kind == EXPANDS:
            assert (found[revision], compatible_from) == ([], None), f"{revision} contracts"
        else:
            assert kind == CONTRACTS, f"{revision} does not say when it runs"
            assert compatible_from is not None, f"{revision} names no `compatible_from`"
            assert BASE <= compatible_from <= revision


CONTRACTING = {
    "DROP TABLE followers": "table followers is gone",
    "ALTER TABLE users DROP COLUMN plan": "users: column plan is gone",
    "ALTER TABLE users RENAME name TO title": "users: column name is gone",
    "ALTER TABLE users ALTER name TYPE varchar(5)": "users: column name was TEXT and is VARCHAR(5)",
    "ALTER TABLE messages ALTER profile SET NOT NULL": "messages: column profile takes no null any more",
    "ALTER TABLE users ADD COLUMN colour text NOT NULL": "users: new column colour must be given",
    "CREATE UNIQUE INDEX one ON users (name)": "users: unique over name",
    "ALTER TABLE tokens ADD CHECK (name <> '')": "tokens: check",
    "ALTER TABLE runs ALTER attempt DROP DEFAULT": "runs: column attempt has no default any more",
}
EXPANDING = (
    "CREATE TABLE more (id int PRIMARY KEY, name text NOT NULL)",
    "ALTER TABLE users ADD COLUMN colour text",
    "ALTER TABLE users ADD COLUMN colour text NOT NULL DEFAULT 'red'",
    "ALTER TABLE users ALTER name DROP NOT NULL",
    "CREATE INDEX more ON users (name)",
    "ALTER TABLE users ADD COLUMN short text; CREATE UNIQUE INDEX one ON users (short, name)",
)


async def _contractions_of(url: str, statements: str) -> list[str]:
    def change(tx: Tx) -> list[str]:
        before = shapes(tx.conn)
        for statement in statements.split(";"):
            tx.execute(sa.text(statement))
        return contractions(before, shapes(tx.conn))

    database = open_database(url, Path("/"), SystemClock())
    try:
        return await database.write(change)
    finally:
        await database.aclose()


@pytest.mark.parametrize("statement", CONTRACTING)
async def test_a_change_that_older_servers_do_not_bear_is_found(postgres_url: str, statement: str) -> None:
    found: Any = await _contractions_of(postgres_url, statement)
    assert found
    assert any(change.startswith(CONTRACTING[statement]) for change in found), found


@pytest.mark.parametrize("statements", EXPANDING)
async def test_a_change_that_older_servers_do_not_notice_is_not(postgres_url: str, statements: str) -> None:
    assert await _contractions_of(postgres_url, statements) == []

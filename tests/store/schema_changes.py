"""What the tables of a PostgreSQL database are, and which changes of them older servers do not bear."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa


@dataclass(frozen=True)
class TableShape:
    columns: dict[str, dict[str, Any]]
    primary_key: tuple[str, ...]
    unique: dict[tuple[str, ...], str] = field(default_factory=dict)  # columns → the rows that it covers
    references: frozenset[tuple[tuple[str, ...], str]] = frozenset()
    checks: frozenset[str] = frozenset()


def shapes(conn: sa.Connection) -> dict[str, TableShape]:
    look = sa.inspect(conn)
    columns, keys = look.get_multi_columns(), look.get_multi_pk_constraint()
    unique, indexes = look.get_multi_unique_constraints(), look.get_multi_indexes()
    references, checks = look.get_multi_foreign_keys(), look.get_multi_check_constraints()
    found: dict[str, TableShape] = {}
    for key, listed in columns.items():
        covered = {tuple(one["column_names"]): "" for one in unique[key]}
        for index in indexes[key]:
            if index["unique"]:
                where = index.get("dialect_options", {}).get("postgresql_where", "")
                covered.setdefault(tuple(str(name) for name in index["column_names"]), str(where or ""))
        found[str(key[1])] = TableShape(
            columns={one["name"]: {**one, "type": str(one["type"])} for one in listed},
            primary_key=tuple(keys[key]["constrained_columns"]),
            unique=covered,
            references=frozenset((tuple(one["constrained_columns"]), one["referred_table"]) for one in references[key]),
            checks=frozenset(str(one["sqltext"]) for one in checks[key]),
        )
    return found


def contractions(before: dict[str, TableShape], after: dict[str, TableShape]) -> list[str]:
    """Each change that can break statements of a server that knows only the tables `before`."""
    found = [f"table {name} is gone" for name in before.keys() - after.keys()]
    for name in sorted(before.keys() & after.keys()):
        found += [f"{name}: {change}" for change in _of_table(before[name], after[name])]
    return sorted(found)


def _of_table(before: TableShape, after: TableShape) -> list[str]:
    known = set(before.columns)
    found = [f"column {name} is gone" for name in known - after.columns.keys()]
    for name in known & after.columns.keys():
        old, new = before.columns[name], after.columns[name]
        if old["type"] != new["type"]:
            found.append(f"column {name} was {old['type']} and is {new['type']}")
        if old["nullable"] and not new["nullable"]:
            found.append(f"column {name} takes no null any more")
        if old["default"] is not None and new["default"] is None:
            found.append(f"column {name} has no default any more")
    new_columns = {name: after.columns[name] for name in after.columns.keys() - known}
    found += [
        f"new column {name} must be given"
        for name, column in new_columns.items()
        if not column["nullable"] and column["default"] is None
    ]
    if before.primary_key != after.primary_key:
        found.append("another primary key")
    for columns, where in after.unique.items():
        # One over a new column covers no row of an older server, which leaves it null.
        if set(columns) <= known and (columns not in before.unique or before.unique[columns] != where):
            found.append(f"unique over {', '.join(columns)}{f' where {where}' if where else ''}")
    found += [f"{', '.join(columns)} must refer to {parent}" for columns, parent in _more(before, after, known)]
    return [*found, *(f"check {check}" for check in after.checks - before.checks)]


def _more(before: TableShape, after: TableShape, known: set[str]) -> list[tuple[tuple[str, ...], str]]:
    return [one for one in after.references - before.references if set(one[0]) <= known]

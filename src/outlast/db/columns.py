"""Building blocks of the tables: the metadata of all tables, types that mean the same on SQLite and PostgreSQL, and
columns with their comment."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class UtcTime(TypeDecorator[datetime]):
    """A timezone-aware UTC time, stored as microseconds since 1970 so that both databases sort and compare it alike."""

    impl = sa.BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> int | None:
        return None if value is None else (value - _EPOCH) // _MICROSECOND

    def process_result_value(self, value: int | None, dialect: Any) -> datetime | None:
        return None if value is None else _EPOCH + timedelta(microseconds=value)


class Json(TypeDecorator[Any]):
    """JSON as text, through orjson. Never queried inside the database, so plain text serves both."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> str | None:
        return None if value is None else orjson.dumps(value).decode()

    def process_result_value(self, value: str | None, dialect: Any) -> Any:
        return None if value is None else orjson.loads(value)


def partial_index(name: str, column: sa.ColumnElement[Any], where: sa.ColumnElement[bool]) -> sa.Index:
    """A unique index over the rows where `where` holds. PostgreSQL's option is set by `migrations/comparison.py`, the
    only reader: naming it here would load that dialect into servers on SQLite."""
    return sa.Index(name, column, unique=True, sqlite_where=where, info={"where": where})


def own_id(comment: str = "prefixed id") -> sa.Column[str]:
    return sa.Column("id", sa.String(40), primary_key=True, comment=comment)


def ref(name: str, target: str, comment: str, **options: Any) -> sa.Column[str]:
    foreign = sa.ForeignKey(f"{target}.id", ondelete=options.pop("ondelete", "CASCADE"))
    return sa.Column(name, sa.String(40), foreign, comment=comment, **options)


def _column(kind: Any, name: str, comment: str, **options: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, comment=comment, **options)


text = partial(_column, sa.Text)
soft_ref = partial(_column, sa.String(40))  # the id of a row that may have been deleted
word = partial(_column, sa.String(80))
blob = partial(_column, sa.String(64))
moment = partial(_column, UtcTime)
json = partial(_column, Json)


def count(name: str, comment: str, default: int = 0, kind: type[sa.Integer] = sa.BigInteger) -> sa.Column[int]:
    return sa.Column(name, kind, nullable=False, server_default=str(default), comment=comment)


def flag(name: str, comment: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean, nullable=False, server_default=sa.false(), comment=comment)


def choice(name: str, values: Sequence[str], comment: str = "", chars: int = 80, **options: Any) -> sa.Column[Any]:
    """One of these words, never null. `rows.py` declares them as its type; they are the default comment."""
    known = {"values": tuple(values)}
    return sa.Column(
        name, sa.String(chars), nullable=False, comment=comment or " | ".join(values), info=known, **options
    )

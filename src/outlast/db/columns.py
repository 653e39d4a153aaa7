"""What the tables are written with: the metadata that holds them all, and columns that carry their comment."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from outlast.db.types import Json, UtcTime

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def own_id(comment: str = "prefixed id") -> sa.Column[str]:
    return sa.Column("id", sa.String(40), primary_key=True, comment=comment)


def ref(name: str, target: str, comment: str, **options: Any) -> sa.Column[str]:
    foreign = sa.ForeignKey(f"{target}.id", ondelete=options.pop("ondelete", "CASCADE"))
    return sa.Column(name, sa.String(40), foreign, comment=comment, **options)


def text(name: str, comment: str, **options: Any) -> sa.Column[str]:
    return sa.Column(name, sa.Text, comment=comment, **options)


def word(name: str, comment: str, **options: Any) -> sa.Column[str]:
    return sa.Column(name, sa.String(80), comment=comment, **options)


def moment(name: str, comment: str, **options: Any) -> sa.Column[Any]:
    return sa.Column(name, UtcTime, comment=comment, **options)


def count(name: str, comment: str, default: int = 0) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False, server_default=str(default), comment=comment)


def flag(name: str, comment: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean, nullable=False, server_default=sa.false(), comment=comment)


def blob(name: str, comment: str, **options: Any) -> sa.Column[str]:
    return sa.Column(name, sa.String(64), comment=comment, **options)


def json(name: str, comment: str, **options: Any) -> sa.Column[Any]:
    return sa.Column(name, Json, comment=comment, **options)


def choice(name: str, values: Sequence[str], comment: str = "", chars: int = 80, **options: Any) -> sa.Column[Any]:
    """One of these words, never null. `rows.py` declares them as its type; without a comment they are the comment."""
    known = {"values": tuple(values)}
    return sa.Column(
        name, sa.String(chars), nullable=False, comment=comment or " | ".join(values), info=known, **options
    )

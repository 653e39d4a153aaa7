"""Items that failed too often."""

import sqlalchemy as sa

from outlast.db.columns import metadata, moment, text, word

set_aside = sa.Table(
    "set_aside",
    metadata,
    sa.Column("kind", sa.String(80), primary_key=True, comment="what was tried: kernel/set_aside/kinds.py"),
    sa.Column("id", sa.String(200), primary_key=True, comment="of the sandbox, source, run, workspace or file"),
    moment("since", "not tried since", nullable=False),
    sa.Column("tries", sa.Integer, nullable=False, comment="after its first failure"),
    word("code", "of the last failure", nullable=False),
    text("reason", "the last failure, for administrators; holds no secret", nullable=False),
)

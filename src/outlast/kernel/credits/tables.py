"""The ledger of credits."""

import sqlalchemy as sa

from outlast.db.columns import metadata, moment, own_id, ref, soft_ref

ledger = sa.Table(
    "ledger",
    metadata,
    own_id(),
    ref("user_id", "users", "whose", nullable=False),
    sa.Column(
        "kind",
        sa.String(10),
        nullable=False,
        comment="grant | expire | reserve | release | settle (0, closes a reserve)",
    ),
    sa.Column("credits", sa.Integer, nullable=False, comment="signed; the balance is the sum"),
    soft_ref("run_id", "what for; null: grant or expire"),
    sa.Column("period", sa.String(7), comment="YYYY-MM of a grant or expire"),
    moment("created_at", "when", nullable=False),
    sa.UniqueConstraint("run_id", "kind"),
    sa.UniqueConstraint("user_id", "kind", "period"),
    sa.Index("ix_ledger_user", "user_id", "created_at"),
)

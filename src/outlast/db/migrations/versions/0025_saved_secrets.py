"""Keep secrets that projects and people saved, sealed with the server's key.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    op.create_table(
        "secrets",
        sa.Column("id", sa.String(40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(40), comment="for its sandboxes; null: for those of every project"),
        sa.Column(
            "name",
            sa.String(80),
            nullable=False,
            comment="the environment variable that holds its placeholder in sandboxes",
        ),
        sa.Column("hosts", sa.Text, nullable=False, comment="where sandboxes may go and its value is sent to"),
        sa.Column("sealed", sa.Text, comment="the value for everybody; null: each person enters their own"),
        sa.Column("created_by", sa.String(40), nullable=False, comment="who made it"),
        sa.Column("created_at", sa.BigInteger, nullable=False, comment="when"),
        sa.Column("updated_at", sa.BigInteger, nullable=False, comment="last change"),
        sa.PrimaryKeyConstraint("id", name="pk_secrets"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_secrets_project_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name="fk_secrets_created_by", ondelete="CASCADE"),
    )
    op.create_index("uq_secrets_project_id_name", "secrets", ["project_id", "name"], unique=True)
    of_server = sa.text("project_id IS NULL")
    op.create_index(
        "uq_secrets_server", "secrets", ["name"], unique=True, sqlite_where=of_server, postgresql_where=of_server
    )
    op.create_table(
        "secret_values",
        sa.Column("secret_id", sa.String(40), nullable=False, comment="of"),
        sa.Column("user_id", sa.String(40), nullable=False, comment="whose; goes before the value for everybody"),
        sa.Column("sealed", sa.Text, nullable=False, comment="the value"),
        sa.Column("updated_at", sa.BigInteger, nullable=False, comment="when it was entered"),
        sa.PrimaryKeyConstraint("secret_id", "user_id", name="pk_secret_values"),
        sa.ForeignKeyConstraint(["secret_id"], ["secrets.id"], name="fk_secret_values_secret_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_secret_values_user_id", ondelete="CASCADE"),
    )

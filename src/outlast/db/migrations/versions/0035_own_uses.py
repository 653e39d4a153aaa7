"""Keep in the log of used secrets whether a secret was the user's own.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
OWN = "the secret, or the MCP server whose account it was, is the user's own: no one else sees the line"


def upgrade() -> None:
    op.add_column(
        "secret_uses", sa.Column("is_own", sa.Boolean, nullable=False, server_default=sa.false(), comment=OWN)
    )
    # What was hidden stays hidden: it was found by the name of the secret.
    op.execute(
        "UPDATE secret_uses SET is_own = true WHERE EXISTS (SELECT 1 FROM secrets WHERE "
        "secrets.owner_id = secret_uses.user_id AND secrets.name = secret_uses.secret)"
    )

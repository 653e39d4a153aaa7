"""All tables of the first release.

Runs: before deploy
"""

from alembic import op

from outlast.db.migrations.baseline import TABLES, create_search_index

revision = "0014"
down_revision = None


def upgrade() -> None:
    TABLES.create_all(op.get_bind(), checkfirst=False)
    create_search_index(op.get_bind())

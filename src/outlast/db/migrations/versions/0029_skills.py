"""Keep skills, their files, where they are off, and which version a run uses.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

from outlast.db.columns import UtcTime

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    op.create_table(
        "skills",
        sa.Column("id", sa.String(40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(40), comment="of; null: of the server, for every project"),
        sa.Column("name", sa.String(80), nullable=False, comment="from SKILL.md"),
        sa.Column("description", sa.Text, nullable=False, comment="what it does and when to use it"),
        sa.Column("license", sa.Text, nullable=False, comment="from SKILL.md; may be empty"),
        sa.Column("compatibility", sa.Text, nullable=False, comment="what it needs, from SKILL.md; may be empty"),
        sa.Column(
            "allowed_tools", sa.Text, nullable=False, comment="tools that it recommends, from SKILL.md; may be empty"
        ),
        sa.Column("digest", sa.String(80), nullable=False, comment="hash of its files"),
        sa.Column("files", sa.BigInteger, server_default="0", nullable=False, comment="number of files"),
        sa.Column("size_bytes", sa.BigInteger, server_default="0", nullable=False, comment="of all files"),
        sa.Column("created_by", sa.String(40), comment="who added or last replaced it; null: the server"),
        sa.Column("created_at", UtcTime, nullable=False, comment="when it was first added"),
        sa.Column("updated_at", UtcTime, nullable=False, comment="when these files were added"),
        sa.PrimaryKeyConstraint("id", name="pk_skills"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_skills_project_id", ondelete="CASCADE"),
    )
    op.create_index("uq_skills_project_id_name", "skills", ["project_id", "name"], unique=True)
    op.create_table(
        "skill_files",
        sa.Column("skill_id", sa.String(40), nullable=False, comment="of"),
        sa.Column("path", sa.String(200), nullable=False, comment="relative to its folder"),
        sa.Column("blob", sa.String(64), nullable=False, comment="its content"),
        sa.Column("size_bytes", sa.BigInteger, server_default="0", nullable=False, comment="of the content"),
        sa.PrimaryKeyConstraint("skill_id", "path", name="pk_skill_files"),
        sa.ForeignKeyConstraint(["skill_id"], ["skills.id"], name="fk_skill_files_skill_id", ondelete="CASCADE"),
    )
    op.create_table(
        "skills_off",
        sa.Column("project_id", sa.String(40), nullable=False, comment="where it is off"),
        sa.Column("name", sa.String(80), nullable=False, comment="of the skill"),
        sa.PrimaryKeyConstraint("project_id", "name", name="pk_skills_off"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_skills_off_project_id", ondelete="CASCADE"),
    )
    op.create_table(
        "skill_uses",
        sa.Column("run_id", sa.String(40), nullable=False, comment="which uses it"),
        sa.Column("name", sa.String(80), nullable=False, comment="of the skill"),
        sa.Column("digest", sa.String(80), nullable=False, comment="of the files that the run has read"),
        sa.PrimaryKeyConstraint("run_id", "name", name="pk_skill_uses"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_skill_uses_run_id", ondelete="CASCADE"),
    )

"""Skills, their files, where they are off, and which version a run uses."""

import sqlalchemy as sa

from outlast.db.columns import blob, count, metadata, moment, own_id, ref, soft_ref, text, word

skills = sa.Table(
    "skills",
    metadata,
    own_id(),
    ref("project_id", "projects", "of; null: of the server, for every project"),
    word("name", "from SKILL.md", nullable=False),
    text("description", "what it does and when to use it", nullable=False),
    text("license", "from SKILL.md; may be empty", nullable=False),
    text("compatibility", "what it needs, from SKILL.md; may be empty", nullable=False),
    text("allowed_tools", "tools that it recommends, from SKILL.md; may be empty", nullable=False),
    word("digest", "hash of its files", nullable=False),
    count("files", "number of files"),
    count("size_bytes", "of all files"),
    soft_ref("created_by", "who added or last replaced it; null: the server"),
    moment("created_at", "when it was first added", nullable=False),
    moment("updated_at", "when these files were added", nullable=False),
    sa.Index("uq_skills_project_id_name", "project_id", "name", unique=True),
)

skill_files = sa.Table(
    "skill_files",
    metadata,
    ref("skill_id", "skills", "of", nullable=False, primary_key=True),
    sa.Column("path", sa.String(200), primary_key=True, comment="relative to its folder"),
    blob("blob", "its content", nullable=False),
    count("size_bytes", "of the content"),
)

skills_off = sa.Table(
    "skills_off",
    metadata,
    ref("project_id", "projects", "where it is off", nullable=False, primary_key=True),
    sa.Column("name", sa.String(80), primary_key=True, comment="of the skill"),
)

skill_uses = sa.Table(
    "skill_uses",
    metadata,
    ref("run_id", "runs", "which uses it", nullable=False, primary_key=True),
    sa.Column("name", sa.String(80), primary_key=True, comment="of the skill"),
    word("digest", "of the files that the run has read", nullable=False),
)

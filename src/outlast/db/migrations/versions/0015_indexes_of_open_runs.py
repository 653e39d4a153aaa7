"""Find the open runs of a thread or workspace, a project's newest runs and a run's open approvals without reading others.

Runs: before deploy
"""

from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_index("ix_runs_thread", "runs", ["thread_id", "leg"], if_not_exists=True)
    op.create_index("ix_runs_workspace", "runs", ["workspace_id", "leg"], if_not_exists=True)
    op.create_index("ix_runs_newest", "runs", ["project_id", "id"], if_not_exists=True)
    op.create_index("ix_approvals_run", "approvals", ["run_id", "status"], if_not_exists=True)
    op.drop_index("ix_runs_thread_id", "runs", if_exists=True)
    op.drop_index("ix_approvals_run_id", "approvals", if_exists=True)

"""Alembic's entry: migrations run on the connection that `outlast.db.connect.upgrade` hands in."""

from alembic import context

from outlast.db.columns import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    compare_type=True,
)
context.run_migrations()

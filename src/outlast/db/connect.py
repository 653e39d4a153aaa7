"""Opens the database of a URL, and brings its tables up to date."""

from pathlib import Path

import sqlalchemy as sa

from outlast.base.clock import Clock
from outlast.base.errors import InvalidSetting, SchemaMismatch
from outlast.db.database import Database
from outlast.db.postgres_options import PostgresOptions
from outlast.db.sqlite import SqliteDatabase

MIGRATIONS = Path(__file__).with_name("migrations")
VERSIONS = sa.table("alembic_version", sa.column("version_num", sa.String))
MIGRATING = 0x6F75746C617374  # the key of PostgreSQL's advisory lock, an arbitrary number


def sqlite_path(url: str, data_dir: Path) -> Path:
    """The file of a `sqlite:///` URL; a relative one is below the data directory."""
    return data_dir / url.removeprefix("sqlite:///")


def open_database(url: str, data_dir: Path, clock: Clock, options: PostgresOptions | None = None) -> Database:
    """The database of `url`: `sqlite:///file` (relative to `data_dir`) or `postgresql://…`. Not migrated yet."""
    if url.startswith("sqlite:///"):
        return SqliteDatabase(sqlite_path(url, data_dir), clock)
    if url.startswith(("postgresql://", "postgres://")):
        # Loaded here because it imports asyncpg and SQLAlchemy's ORM, which SQLite does not need.
        from outlast.db.postgres import PostgresDatabase

        return PostgresDatabase(url.replace("postgres://", "postgresql://", 1), clock, options)
    raise InvalidSetting(
        "database.url is not the address of a database that Outlast supports.",
        hint="Write sqlite:///outlast.db or postgresql://user:password@host:5432/name.",
        setting="database.url",
    )


async def migrate(database: Database) -> None:
    """Run every missing migration, in one transaction. Safe to repeat, and while a server of the same version runs.
    Raises `SchemaMismatch` if a newer Outlast created the database, or its tables are not those of its revision."""
    if await database.read(lambda tx: _current(tx.conn)) == revisions()[-1]:
        return
    async with database.patient() as patient:  # a change of large tables takes a while, or another process makes it
        await patient.write(lambda tx: upgrade(tx.conn))


def upgrade(conn: sa.Connection) -> None:
    one_at_a_time(conn)
    known, current = revisions(), _current(conn)
    if current is not None and current < known[0]:
        current = _adopt(conn, current)
    if current is not None and current not in known:
        raise SchemaMismatch(
            f"The database is at revision {current}, which this version of Outlast does not know.",
            hint="Start the newer version that created it, or restore a backup from before the upgrade.",
            revision=current,
        )
    if current == known[-1]:
        return
    # Loaded here because most starts have nothing to migrate, and loading it takes 5 % of a start.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = conn
    command.upgrade(config, "head")


def one_at_a_time(conn: sa.Connection) -> None:
    """If several processes start at once, let one prepare the database: the others wait until its transaction ends, and
    have nothing to do."""
    if conn.dialect.name == "postgresql":
        conn.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATING)))


def revisions() -> list[str]:
    """Every revision in order: the file names of the migrations begin with them."""
    return sorted(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*_*.py"))


def _adopt(conn: sa.Connection, revision: str) -> str:
    """The baseline's revision if `revision` is an earlier one of Outlast; otherwise `revision`."""
    from outlast.db.migrations import adoption

    if revision not in adoption.EARLIER:
        return revision
    adoption.adopt(conn, revision)
    return adoption.BASELINE


def _current(conn: sa.Connection) -> str | None:
    """The revision of the database; None before the first migration."""
    if not sa.inspect(conn).has_table(VERSIONS.name):
        return None
    return conn.execute(sa.select(VERSIONS.c.version_num)).scalar()

"""Changes to the database, for operators: access to the data directory is the only permission they need."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import TypeVar

import anyio

from outlast.base.clock import SystemClock
from outlast.base.data_directory import data_directory, existing_data_directory
from outlast.base.errors import DataDirectoryMissing, InvalidSetting, NotFound
from outlast.db.connect import migrate, open_database, sqlite_path
from outlast.db.database import Database, Tx
from outlast.kernel.accounts import store as accounts
from outlast.kernel.cli.terminal import err
from outlast.kernel.deployment import Deployment, check
from outlast.kernel.postgres_checks import options_of
from outlast.kernel.projects import store as projects
from outlast.kernel.settings import Settings

T = TypeVar("T")


def in_database(settings: Settings, work: Callable[[Database], Awaitable[T]], *, create: bool = False) -> T:
    """Run `work` on the database, and return its result. Raises `DataDirectoryMissing` unless it may `create` one."""

    async def run() -> T:
        async with opened(settings, create=create) as database:
            return await work(database)

    return anyio.run(run)


def in_transaction(settings: Settings, work: Callable[[Tx], T], *, create: bool = False) -> T:
    """Run `work` in one transaction, as `in_database` does."""
    return in_database(settings, lambda database: database.write(work), create=create)


def find_user(tx: Tx, settings: Settings, wanted: str | None) -> str:
    """The user with this id or name; by default the owner of local mode, created at the first use."""
    if wanted is None:
        owner: str = accounts.ensure_local_owner(tx, settings.credits.default_plan).id
        projects.ensure_default_project(tx, owner)
        return owner
    found = [row.id for row in accounts.list_users(tx) if wanted in (row.id, row.name)]
    if len(found) != 1:
        hint = "Use the user's id." if found else "Create one: outlast tokens create --new-user NAME."
        raise NotFound(f"There {'are several users' if found else 'is no user'} {wanted!r}.", hint=hint)
    return str(found[0])


def create_user(tx: Tx, settings: Settings, name: str, plan: str | None) -> str:
    """The id of a new user with their own project. Raises `InvalidSetting` for a plan that is not configured."""
    plans = settings.credits.plans
    if plan is not None and plan not in plans:
        raise InvalidSetting(f"There is no plan {plan!r}.", hint=f"Plans: {', '.join(plans)}.", setting="--plan")
    user_id = accounts.add_user(tx, name, plan or settings.credits.default_plan)
    projects.ensure_default_project(tx, user_id)
    return user_id


@asynccontextmanager
async def opened(settings: Settings, *, create: bool = False, adopt: bool = False) -> AsyncIterator[Database]:
    """The database, also while a server runs: SQLite's write-ahead log lets a second process write for a moment. Prints
    its address to standard error. Raises `DataDirectoryMissing` unless it may `create` one."""
    url = settings.database.url.reveal()
    folder = (data_directory if create else existing_data_directory)(settings.server.data_dir)
    file = sqlite_path(url, folder) if url.startswith("sqlite:///") else None
    if file is not None and not create and not file.is_file():
        raise DataDirectoryMissing(f"There is no Outlast database at {file}.", database=str(file))
    err.print(f"Database: {file or settings.database.url}", style="dim")
    async with aclosing(open_database(url, folder, SystemClock(), options_of(settings))) as database:
        await migrate(database)
        await check(database, Deployment(folder, folder / settings.blobs.url.reveal()), adopt=adopt)
        yield database

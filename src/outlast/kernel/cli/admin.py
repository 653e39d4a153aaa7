"""Changes to the database, for operators: whoever can read the data directory needs no permission."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TypeVar

import anyio

from outlast.base.clock import SystemClock
from outlast.base.data_directory import data_directory, existing_data_directory
from outlast.base.errors import DataDirectoryMissing, InvalidSetting, NotFound
from outlast.base.settings import Settings
from outlast.db.connect import migrate, open_database, sqlite_path
from outlast.db.database import Database, Tx
from outlast.kernel.accounts import store as accounts
from outlast.kernel.accounts.shapes import TokenAnswer
from outlast.kernel.accounts.store import NewToken
from outlast.kernel.administration import actions as administration
from outlast.kernel.administration.shapes import UserSummaryAnswer
from outlast.kernel.cli.consoles import err
from outlast.kernel.deployment import Deployment, check
from outlast.kernel.projects import store as projects
from outlast.kernel.threads import search

T = TypeVar("T")


class Admin:
    """Each call opens the database, changes it in one transaction, and closes it. Without `create` the data directory
    and an SQLite file must exist: `DataDirectoryMissing`."""

    def __init__(self, settings: Settings, *, create: bool = False) -> None:
        self._settings, self._create = settings, create

    def migrate(self) -> None:
        """Bring the tables up to date."""

        async def done(_database: Database) -> None:
            return None

        self._with_database(done)

    def create(
        self,
        name: str,
        user: str | None,
        new_user: str | None,
        plan: str | None,
        expires_in_days: float | None,
    ) -> NewToken:
        """A token for an existing user, for a new one, or for the owner of local mode."""
        settings = self._settings

        def run(tx: Tx) -> NewToken:
            user_id = _new_user(tx, settings, new_user, plan) if new_user else _user_id(tx, settings, user)
            expires_at = tx.now + timedelta(days=expires_in_days) if expires_in_days else None
            return accounts.add_token(tx, user_id, name, expires_at)

        return self._with_database(lambda database: database.write(run))

    def tokens(self, user: str | None) -> list[TokenAnswer]:
        """The user's tokens, newest first."""

        def run(tx: Tx) -> list[TokenAnswer]:
            return accounts.list_tokens(tx, _user_id(tx, self._settings, user))

        return self._with_database(lambda database: database.write(run))

    def revoke(self, token_id: str, user: str | None) -> None:
        """Raises `NotFound` for a token of somebody else."""

        def run(tx: Tx) -> None:
            accounts.revoke_token(tx, _user_id(tx, self._settings, user), token_id)

        self._with_database(lambda database: database.write(run))

    def users(self) -> list[UserSummaryAnswer]:
        """Every user, oldest first."""
        plans = self._settings.credits.plans

        def run(tx: Tx) -> list[UserSummaryAnswer]:
            return [administration.summarize(tx, plans, row) for row in accounts.list_users(tx)]

        return self._with_database(lambda database: database.read(run))

    def add_user(self, name: str, plan: str | None) -> UserSummaryAnswer:
        """Make a user with a project of their own. Raises `InvalidSetting` for a plan that is not configured."""

        def run(tx: Tx) -> UserSummaryAnswer:
            user_id = _new_user(tx, self._settings, name, plan)
            return administration.summarize(tx, self._settings.credits.plans, accounts.user(tx, user_id))

        return self._with_database(lambda database: database.write(run))

    def change_user(self, user: str, change: Callable[[Tx, str], None]) -> UserSummaryAnswer:
        """Do this to the user with this id or name; what they are now. Raises `NotFound`."""

        def run(tx: Tx) -> UserSummaryAnswer:
            user_id = _user_id(tx, self._settings, user)
            change(tx, user_id)
            return administration.summarize(tx, self._settings.credits.plans, accounts.user(tx, user_id))

        return self._with_database(lambda database: database.write(run))

    def rebuild_search(self) -> int:
        """Make the search index anew, a few threads at a time; how many entries it has."""

        async def run(database: Database) -> int:
            await database.write(search.mend_index)
            total, after = 0, ""
            while True:
                next_id, count = await database.write(search.rebuild, after)
                total += count
                if next_id is None:
                    return total
                after = next_id

        return self._with_database(run)

    def _with_database(self, work: Callable[[Database], Awaitable[T]]) -> T:
        async def run() -> T:
            async with opened(self._settings, create=self._create) as database:
                return await work(database)

        return anyio.run(run)


def _user_id(tx: Tx, settings: Settings, wanted: str | None) -> str:
    """The user with this id or name; without one the owner of local mode, made if this is the first use."""
    if wanted is None:
        owner: str = accounts.ensure_local_owner(tx, settings.credits.default_plan).id
        projects.ensure_default_project(tx, owner)
        return owner
    found = [row.id for row in accounts.list_users(tx) if wanted in (row.id, row.name)]
    if len(found) != 1:
        hint = "Name the user by id." if found else "Make one: outlast token create --new-user NAME."
        raise NotFound(f"There {'are several users' if found else 'is no user'} {wanted!r}.", hint=hint)
    return str(found[0])


def _new_user(tx: Tx, settings: Settings, name: str, plan: str | None) -> str:
    plans = settings.credits.plans
    if plan is not None and plan not in plans:
        raise InvalidSetting(
            f"There is no plan {plan!r}.", hint=f"Plans: {', '.join(plans)}.", setting="--plan"
        )
    user_id = accounts.add_user(tx, name, plan or settings.credits.default_plan)
    projects.ensure_default_project(tx, user_id)
    return user_id


@asynccontextmanager
async def opened(settings: Settings, *, create: bool = False, adopt: bool = False) -> AsyncIterator[Database]:
    """The database, also beside a running server: SQLite's write-ahead log lets a second process write for a moment.
    Says on standard error which one it is. Raises `DataDirectoryMissing` unless it may `create` one."""
    url = settings.database.url.reveal()
    folder = (data_directory if create else existing_data_directory)(settings.server.data_dir)
    if url.startswith("sqlite:///"):
        file = sqlite_path(url, folder)
        if not create and not file.is_file():
            raise DataDirectoryMissing(f"There is no Outlast database at {file}.", database=str(file))
        err.print(f"Database: {file}", style="dim")
    else:
        err.print(f"Database: {settings.database.url}", style="dim")
    database = open_database(url, folder, SystemClock())
    try:
        await migrate(database)
        await check(database, Deployment(folder, folder / settings.blobs.url.reveal()), adopt=adopt)
        yield database
    finally:
        await database.aclose()

"""Parts of a transaction that can fail alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import sqlalchemy as sa

from outlast.base.errors import DiskFull, StorageUnavailable
from outlast.db.database import Tx

_BEGIN: Final = sa.text("SAVEPOINT part")  # inner ones of the same name hide the outer ones until they are released
_RELEASE: Final = sa.text("RELEASE SAVEPOINT part")
_UNDO: Final = sa.text("ROLLBACK TO SAVEPOINT part")


@contextmanager
def savepoint(tx: Tx) -> Iterator[None]:
    """Undo the block's changes if it raises, and drop its notices, hooks and events; the rest of the transaction stays.
    Passes the exception on; if `is_of_transaction` holds for it, the transaction is over."""
    hooks, notices, endings = len(tx.hooks), set(tx.notices), len(tx.endings)
    kept = {key: [*values] for key, values in tx.kept.items()}
    tx.execute(_BEGIN, {})
    try:
        yield
        tx.execute(_RELEASE, {})
    except BaseException as error:
        del tx.hooks[hooks:]
        tx.notices.intersection_update(notices)
        del tx.endings[endings:]
        tx.kept = kept
        try:
            tx.execute(_UNDO, {})
            tx.execute(_RELEASE, {})
        except sa.exc.DBAPIError:
            raise error from None  # the whole transaction is lost (a full disk, a lost connection): this is why
        raise


def is_of_transaction(error: Exception) -> bool:
    """True if an error in a savepoint ends the whole transaction, which must be abandoned or retried: a full disk, a
    lost connection, a deadlock."""
    if isinstance(error, sa.exc.DBAPIError):
        # asyncpg's wrapper uses the base class for all errors that are not mistakes in a statement.
        return type(error) in (sa.exc.DBAPIError, sa.exc.InterfaceError) or error.connection_invalidated
    return isinstance(error, StorageUnavailable | DiskFull)

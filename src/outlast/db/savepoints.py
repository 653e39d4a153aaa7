"""Parts of a transaction that can fail alone."""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from outlast.base.errors import DiskFull, StorageUnavailable
from outlast.db.database import Tx


@contextmanager
def savepoint(tx: Tx) -> Iterator[None]:
    """What is done in it is undone when it raises, with its bells and hooks after the commit; the rest of the
    transaction stays. Raises what it raised; if `is_of_transaction` says so, the transaction is over."""
    hooks, notices = len(tx.hooks), set(tx.notices)
    nested = tx.conn.begin_nested()
    try:
        yield
        nested.commit()
    except BaseException as error:
        del tx.hooks[hooks:]
        tx.notices.intersection_update(notices)
        try:
            nested.rollback()
        except sa.exc.DBAPIError:
            raise error from None  # the whole transaction is gone (a full disk, a lost connection): this says why
        raise


def is_of_transaction(error: Exception) -> bool:
    """Whether an error in a savepoint is about the whole transaction, which has to be given up or run again: a full
    disk, a lost connection, a deadlock."""
    if isinstance(error, sa.exc.DBAPIError):
        # asyncpg's wrapping uses the base class for all that is no mistake in a statement.
        return type(error) in (sa.exc.DBAPIError, sa.exc.InterfaceError) or error.connection_invalidated
    return isinstance(error, StorageUnavailable | DiskFull)

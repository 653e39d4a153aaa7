"""What an exception was about, out of a group of them too."""

from collections.abc import Iterator

from outlast.base.errors import DiskFull, OutlastError, StorageUnavailable


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group, and in groups within; of any other exception itself."""
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if isinstance(one, BaseExceptionGroup):
            waiting.extend(reversed(one.exceptions))
        else:
            yield one


def cause_of(error: Exception) -> Exception:
    """The one exception to report: of a group the first that is a fault rather than one of ours, else the first."""
    found = [leaf for leaf in leaves(error) if isinstance(leaf, Exception)]
    return next((leaf for leaf in found if not isinstance(leaf, OutlastError)), found[0] if found else error)


def is_bug(error: Exception) -> bool:
    """Whether its trace belongs in the log."""
    return not isinstance(error, OutlastError | OSError)


def is_of_storage(error: Exception) -> bool:
    """Whether the storage was in trouble, which says nothing about the item that met it."""
    return any(isinstance(leaf, StorageUnavailable | DiskFull) for leaf in leaves(error))


def described(error: Exception) -> tuple[str, str]:
    """(code, reason) for operators. They hold no secret: our own messages have none, and of other exceptions only the
    class and the operating system's message are given."""
    if isinstance(error, OutlastError):
        return error.code, error.message
    kind = type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        return "os_error", f"{kind}: {error.strerror}"
    return "internal_error", f"{kind}; the server's log has its trace"

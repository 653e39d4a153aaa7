"""The cause of an exception, also of an exception group."""

from collections.abc import Iterator

from outlast.base.errors import DiskFull, OutlastError, StorageUnavailable


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group and its nested groups; any other exception yields itself."""
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if isinstance(one, BaseExceptionGroup):
            waiting.extend(reversed(one.exceptions))
        else:
            yield one


def cause_of(error: Exception) -> Exception:
    """The one exception to report: in a group the first that is a bug rather than one of our errors, else the first."""
    found = [leaf for leaf in leaves(error) if isinstance(leaf, Exception)]
    return next((leaf for leaf in found if not isinstance(leaf, OutlastError)), found[0] if found else error)


def is_bug(error: Exception) -> bool:
    """True if the traceback belongs in the log."""
    return not isinstance(error, OutlastError | OSError)


def is_of_storage(error: Exception) -> bool:
    """True if the storage failed, which says nothing about the item that was being processed."""
    return any(isinstance(leaf, StorageUnavailable | DiskFull) for leaf in leaves(error))


def described(error: Exception) -> tuple[str, str]:
    """(code, reason) for operators. They contain no secret: our own messages have none, and other exceptions are
    reduced to their class and the operating system's message."""
    if isinstance(error, OutlastError):
        return error.code, error.message
    kind = type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        return "os_error", f"{kind}: {error.strerror}"
    return "internal_error", f"{kind}; the server's log has the traceback"

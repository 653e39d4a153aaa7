"""Opens files below a folder that hostile code may be changing: no link is followed, and nothing outside is reached.

Linux's `openat2` does this in one call. If it is missing or forbidden, the path is walked part by part; each part is
opened from the descriptor of the one before and refused if it is a link. Symbolic links anywhere in a path raise
`OSError` (ELOOP or ENOTDIR), as does every path that leads outside.
"""

import ctypes
import errno
import os
from typing import Final

_OPENAT2: Final = 437  # the number is the same on every architecture
_NO_MAGIC_LINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_TRIES: Final = 8  # a concurrent rename anywhere on the machine can make the call fail with EAGAIN
_ALWAYS: Final = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_libc: Final = ctypes.CDLL(None, use_errno=True)


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_beneath(root: int, path: str, flags: int, mode: int = 0) -> int:
    """A descriptor for `path` below the folder open as `root`. The caller closes it. Raises `OSError`; `ValueError` for
    a path that is absolute, empty, or has '..' in it."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\0" in path:
        raise ValueError(f"not a path below a folder: {path!r}")
    flags |= _ALWAYS
    descriptor = _openat2(root, path, flags, mode)
    return descriptor if descriptor is not None else walk_beneath(root, parts, flags, mode)


def walk_beneath(root: int, parts: list[str], flags: int, mode: int) -> int:
    """The same without `openat2`."""
    at = os.dup(root)
    try:
        for part in parts[:-1]:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | _ALWAYS, dir_fd=at)
            os.close(at)
            at = below
        return os.open(parts[-1], flags | _ALWAYS, mode, dir_fd=at)
    finally:
        os.close(at)


def open_folder(path: str | os.PathLike[str]) -> int:
    """A descriptor of a folder that the server itself created; a link in its place is refused."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _openat2(root: int, path: str, flags: int, mode: int) -> int | None:
    """The descriptor, or None if `openat2` is not available."""
    how = _How(flags, mode if flags & os.O_CREAT else 0, _NO_MAGIC_LINKS | _NO_SYMLINKS | _BENEATH)
    for _ in range(_TRIES):
        descriptor = _libc.syscall(
            ctypes.c_long(_OPENAT2),
            ctypes.c_int(root),
            os.fsencode(path),
            ctypes.byref(how),
            ctypes.c_size_t(ctypes.sizeof(how)),
        )
        if descriptor >= 0:
            return int(descriptor)
        error = ctypes.get_errno()
        if error in (errno.ENOSYS, errno.EPERM, errno.EOPNOTSUPP, errno.EINVAL):
            return None
        if error not in (errno.EAGAIN, errno.EINTR):
            raise OSError(error, os.strerror(error), path)
    return None

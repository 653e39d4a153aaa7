"""Files anywhere in the sandbox, with the permissions of its user: listed, read and written in pieces, moved, removed.

Long operations run piece by piece, or in a separate program, so that they block nothing else.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat

from .commands import WORKSPACE
from .effects import Refused
from .file_facts import Facts, readable, refused, resolve
from .files import make_folders, temporary
from .pages import Pages
from .sessions import Session

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator, Optional

    from .main import Agent, Connection

PIECE_BYTES = 1024 * 1024
MAX_LISTED = 100_000
MAX_ERROR_BYTES = 4096
NEW_FILE_MODE = 0o644


class AnyFiles:
    """The requests about files."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._facts = Facts()
        self.handlers: dict[str, Callable[[Connection, dict[str, Any], bytes], None]] = {
            "file_stat": self._stat,
            "file_list": self._list,
            "file_read": self._read,
            "file_write": self._write,
            "file_make_dir": self._make_dir,
            "file_move": self._move,
            "file_remove": self._remove,
            "file_watch": self._watch,
        }

    def _stat(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        path = resolve(request["path"])
        try:
            connection.reply(facts=self._facts.of(path))
        except OSError as error:
            raise refused(error, path) from error

    def _list(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        path = resolve(request["path"])
        try:
            first = _scan(path)
        except OSError as error:
            raise refused(error, path) from error
        Pages(connection, _walk(self._facts, first, int(request["depth"]))).start()

    def _read(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        path = resolve(request["path"])
        try:
            reading = Reading(connection, path, int(request["offset"]))
        except OSError as error:
            raise refused(error, path) from error
        connection.begin(reading)
        reading.proceed({}, b"")

    def _write(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        path = resolve(request["path"])
        try:
            writing = Writing(self._agent, self._facts, connection, path, request)
        except OSError as error:
            raise refused(error, path) from error
        connection.begin(writing)
        connection.reply(end=False)

    def _make_dir(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        path = resolve(request["path"])
        made = not os.path.isdir(path)
        _make_folders(path)
        connection.reply(made=made)

    def _move(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        source, target = resolve(request["source"]), resolve(request["target"])
        _check_movable(source)
        try:
            os.lstat(source)
        except OSError as error:
            raise refused(error, source) from error
        _make_folders(os.path.dirname(target))
        try:
            os.rename(source, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise refused(error, target) from error
            self._run(["/bin/mv", "-fT", "--", source, target], connection, target, lambda: self._facts_reply(target))
            return
        connection.reply(**self._facts_reply(target))

    def _facts_reply(self, path: str) -> dict[str, Any]:
        return {"facts": self._facts.of(path)}

    def _remove(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        path = resolve(request["path"])
        _check_movable(path)
        try:
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                os.unlink(path)
            elif os.listdir(path):
                self._run(["/bin/rm", "-rf", "--", path], connection, path, dict)
                return
            else:
                os.rmdir(path)
        except OSError as error:
            raise refused(error, path) from error
        connection.reply()

    def _run(self, argv: list[str], connection: Connection, path: str, answer: Callable[[], dict[str, Any]]) -> None:
        """Run a program and answer once it has ended; it goes on if the connection ends."""
        read_end, write_end = os.pipe()
        null = os.open("/dev/null", os.O_RDWR)
        try:
            child = self._agent.spawner.spawn(argv, {"LC_ALL": "C.UTF-8"}, "/", (null, null, write_end))
        except OSError as error:
            os.close(read_end)
            raise refused(error, path) from error
        finally:
            os.close(write_end)
            os.close(null)
        chore = Chore(connection, path, read_end, answer)
        connection.begin(chore)
        self._agent.loop.on_exit(child.pid, chore.ended)

    def _watch(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        from .watching import Watching

        path = resolve(request["path"])
        try:
            watching = Watching(self._agent.loop, connection, path, bool(request["recursive"]))
            connection.begin(watching)
            watching.start()
        except OSError as error:
            raise refused(error, path) from error


class Reading(Session):
    """A file that is read piece by piece."""

    def __init__(self, connection: Connection, path: str, offset: int) -> None:
        self._connection = connection
        self._path = path
        self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            if not stat.S_ISREG(os.fstat(self._fd).st_mode):
                raise Refused("path_refused", f"{readable(path)!r} is not a regular file", hint="")
            os.lseek(self._fd, max(0, offset), os.SEEK_SET)
        except (OSError, Refused):
            os.close(self._fd)
            raise

    def proceed(self, _request: dict[str, Any], _payload: bytes) -> None:
        parts, missing = [], PIECE_BYTES
        try:
            while missing:
                data = os.read(self._fd, missing)
                if not data:
                    break
                parts.append(data)
                missing -= len(data)
        except OSError as error:
            raise refused(error, self._path) from error
        if missing:
            self.close()
            self._connection.finish(b"".join(parts))
        else:
            self._connection.reply(b"".join(parts), end=False)

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


class Writing(Session):
    """A file that is written piece by piece to a temporary file, and put in place by a rename. Raises OSError."""

    def __init__(self, agent: Agent, facts: Facts, connection: Connection, path: str, request: dict[str, Any]) -> None:
        self._agent = agent
        self._facts = facts
        self._connection = connection
        self._path = path
        self._target = os.path.realpath(path)
        self._in_workspace = self._target.startswith(WORKSPACE + "/")
        self._metadata: dict[str, str] = request["metadata"] or {}
        mode: Optional[int] = request["mode"]
        exists = os.path.lexists(self._target)
        if exists and not os.path.isfile(self._target):
            raise Refused("path_refused", f"{readable(path)!r} is not a regular file", hint="")
        if mode is None:
            mode = stat.S_IMODE(os.stat(self._target).st_mode) if exists else NEW_FILE_MODE
        if exists and request["metadata"] is None:
            self._metadata = facts.of(self._target)["metadata"]
        _make_folders(os.path.dirname(self._target))
        self._temporary = temporary(self._target, exists)
        self._fd = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            os.fchmod(self._fd, mode & 0o7777)
            facts.keep(self._temporary, self._metadata)
        except (OSError, Refused):
            self.close()
            raise

    def proceed(self, request: dict[str, Any], payload: bytes) -> None:
        try:
            self._add(payload)
            if not request["last"]:
                self._connection.reply(end=False)
                return
            os.rename(self._temporary, self._target)
            self._temporary = ""
            facts = self._facts.of(self._target, self._path)
        except OSError as error:
            raise refused(error, self._path) from error
        self.close()
        self._connection.finish(facts=facts)

    def _add(self, payload: bytes) -> None:
        if self._in_workspace and payload:
            self._agent.disk.check_room(len(payload))
        view = memoryview(payload)
        while view:
            view = view[os.write(self._fd, view) :]

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)
        if self._temporary:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary)
            self._temporary = ""


class Chore(Session):
    """A program that carries out a request; its error output is the refusal."""

    def __init__(self, connection: Connection, path: str, errors: int, answer: Callable[[], dict[str, Any]]) -> None:
        self._connection: Optional[Connection] = connection
        self._path = path
        self._errors = errors
        self._answer = answer

    def ended(self, exit_code: int) -> None:
        os.set_blocking(self._errors, False)
        try:
            complaint = os.read(self._errors, MAX_ERROR_BYTES).decode("utf-8", "replace")
        except BlockingIOError:
            complaint = ""
        os.close(self._errors)
        connection = self._connection
        if connection is None:
            return
        try:
            if exit_code:
                raise self._refusal(complaint)
            connection.finish(**self._answer())
        except OSError as error:
            connection.refuse(refused(error, self._path))
        except Refused as error:
            connection.refuse(error)

    def _refusal(self, complaint: str) -> Refused:
        code = "disk_full" if os.strerror(errno.ENOSPC) in complaint else "path_refused"
        conflict = any(os.strerror(number) in complaint for number in (errno.ENOTEMPTY, errno.EEXIST))
        first = complaint.partition("\n")[0] or f"{readable(self._path)!r} could not be changed"
        return Refused("conflict" if conflict else code, first, hint="")

    def proceed(self, _request: dict[str, Any], _payload: bytes) -> None:
        raise Refused("malformed_input", "the previous request is not done yet")

    def close(self) -> None:
        self._connection = None


def _make_folders(path: str) -> None:
    try:
        make_folders(path)
    except FileExistsError as error:
        raise Refused("path_refused", f"{readable(path)!r} is not a folder", hint="") from error
    except OSError as error:
        raise refused(error, path) from error


def _check_movable(path: str) -> None:
    if os.path.ismount(path):
        raise Refused("path_refused", f"{readable(path)!r} is a fixed part of the sandbox", hint="")


def _scan(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as scan:
        return sorted(scan, key=lambda entry: entry.name)


def _walk(facts: Facts, first: list[os.DirEntry[str]], depth: int) -> Iterator[dict[str, Any]]:
    """Each folder before its contents, by name. Entries that vanish meanwhile, or are unreadable, are left out."""
    levels, count = [iter(first)], 0
    while levels:
        entry = next(levels[-1], None)
        if entry is None:
            levels.pop()
            continue
        count += 1
        if count > MAX_LISTED:
            raise Refused("arguments_invalid", f"there are more than {MAX_LISTED} files; list fewer levels")
        try:
            yield facts.of(entry.path)
            if len(levels) < depth and entry.is_dir(follow_symlinks=False):
                levels.append(iter(_scan(entry.path)))
        except OSError:
            continue

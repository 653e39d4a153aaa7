"""`filesystem.Filesystem`: list, inspect, move and remove files and folders, and watch folders."""

import posixpath
import stat
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

from starlette.requests import Request
from starlette.types import ASGIApp

from outlast.base.errors import Conflict, MalformedInput, NotFound, OutlastError
from outlast.surfaces.protocols.e2b import connect
from outlast.surfaces.protocols.e2b.access import Inside, Unary, inside
from outlast.surfaces.protocols.e2b.connect import Emit, Message, StreamAnswer, field
from outlast.surfaces.protocols.e2b.names import full_path
from outlast_sandbox.interactive import FileChangeSeen, FileFacts, Files

METADATA: Final = "e2b."  # our attributes are in the space `user.`, envd's in `user.e2b.`
KINDS: Final = {"file": "FILE_TYPE_FILE", "directory": "FILE_TYPE_DIRECTORY"}
MAX_DEPTH: Final = 100


async def stat_path(place: Inside, message: Message) -> Message:
    return {"entry": await _entry(place.sandbox.files, await place.sandbox.files.stat(_path(message)))}


async def make_dir(place: Inside, message: Message) -> Message:
    files, path = place.sandbox.files, _path(message)
    if not await files.make_dir(path):
        facts = await files.stat(path)
        if facts.kind == "file":
            raise MalformedInput(f"path already exists but it is not a directory: {path}", field="path")
        raise Conflict(f"directory already exists: {path}")
    return {"entry": await _entry(files, await files.stat(path))}


async def move(place: Inside, message: Message) -> Message:
    files = place.sandbox.files
    facts = await files.move(_path(message, "source"), _path(message, "destination"))
    return {"entry": await _entry(files, facts)}


async def list_dir(place: Inside, message: Message) -> Message:
    depth = message.get("depth") or 1
    if not isinstance(depth, int) or not 0 < depth <= MAX_DEPTH:
        raise MalformedInput(f"The depth must be 1 to {MAX_DEPTH}.", field="depth")
    files = place.sandbox.files
    return {"entries": [await _entry(files, facts) for facts in await files.list(_path(message), depth)]}


async def remove(place: Inside, message: Message) -> Message:
    with suppress(NotFound):  # as with envd, removing a missing file succeeds
        await place.sandbox.files.remove(_path(message))
    return {}


async def create_watcher(place: Inside, message: Message) -> Message:
    watcher_id = await place.runtime.watchers.watch(
        place.sandbox,
        place.workspace_id,
        _path(message),
        recursive=bool(message.get("recursive")),
        include_entry=bool(field(message, "includeEntry")),
    )
    return {"watcherId": watcher_id}


async def get_watcher_events(place: Inside, message: Message) -> Message:
    watcher = place.runtime.watchers.get(str(field(message, "watcherId")), place.workspace_id)
    changes = await watcher.take()
    files = place.sandbox.files if watcher.include_entry else None
    return {"events": [await _event(change, watcher.path, files) for change in changes]}


async def remove_watcher(place: Inside, message: Message) -> Message:
    watcher_id = str(field(message, "watcherId"))
    place.runtime.watchers.get(watcher_id, place.workspace_id)
    place.runtime.watchers.end(watcher_id, place.workspace_id)
    return {}


UNARY: Final[dict[str, Unary]] = {
    "Stat": stat_path,
    "MakeDir": make_dir,
    "Move": move,
    "ListDir": list_dir,
    "Remove": remove,
    "CreateWatcher": create_watcher,
    "GetWatcherEvents": get_watcher_events,
    "RemoveWatcher": remove_watcher,
}


async def watch_dir(request: Request) -> ASGIApp:
    """Send the changes below a folder, until the caller hangs up."""
    place = await inside(request)
    message = await connect.read_one(request)
    path, files = _path(message), place.sandbox.files
    with_entry = files if field(message, "includeEntry") else None

    async def produce(emit: Emit) -> None:
        with place.open_stream():
            async with files.watch(path, recursive=bool(message.get("recursive"))) as changes:
                await emit({"start": {}})
                async with connect.pinging(emit, {"keepalive": {}}, connect.ping_s(request)):
                    async for change in changes:
                        await emit({"filesystem": await _event(change, path, with_entry)})

    return StreamAnswer(produce, connect.timeout_of(request))


def shown_metadata(facts: FileFacts) -> dict[str, str]:
    """The metadata that a caller stored with the file, without other programs' attributes."""
    return {name.removeprefix(METADATA): value for name, value in facts.metadata.items() if name.startswith(METADATA)}


async def _event(change: FileChangeSeen, folder: str, files: Files | None) -> Message:
    event: Message = {"name": change.path, "type": f"EVENT_TYPE_{change.kind.upper()}"}
    if files is not None and change.kind != "remove":
        try:
            event["entry"] = await _entry(files, await files.stat(posixpath.join(folder, change.path)))
        except OutlastError:  # it was removed meanwhile
            return event
    return event


async def _entry(files: Files, facts: FileFacts) -> Message:
    """A file in envd's form: a symbolic link has the kind and size of its target, and is marked as a link."""
    kind: str = facts.kind
    if kind == "symlink":
        kind = await _kind_of_target(files, facts)
    entry: Message = {
        "name": posixpath.basename(facts.path) or "/",
        "type": KINDS.get(kind, "FILE_TYPE_UNSPECIFIED"),
        "path": facts.path,
        "size": str(facts.size),
        "mode": facts.mode,
        "permissions": _permissions(facts),
        "owner": facts.owner,
        "group": facts.group,
        "modifiedTime": datetime.fromtimestamp(facts.mtime, UTC).isoformat().replace("+00:00", "Z"),
        "metadata": shown_metadata(facts),
    }
    if facts.symlink_target is not None:
        entry |= {"symlinkTarget": facts.symlink_target, "isSymlink": True}
    return entry


async def _kind_of_target(files: Files, facts: FileFacts) -> str:
    target = posixpath.join(posixpath.dirname(facts.path), facts.symlink_target or "")
    for _ in range(8):
        try:
            found = await files.stat(posixpath.normpath(target))
        except OutlastError:
            return "other"
        if found.kind != "symlink":
            return found.kind
        target = posixpath.join(posixpath.dirname(found.path), found.symlink_target or "")
    return "other"


def _permissions(facts: FileFacts) -> str:
    """The permissions in Go's notation: `-rw-r--r--`, with `d` for a folder and `L` for a link."""
    letter = {"directory": "d", "symlink": "L"}.get(facts.kind, "-")
    return letter + stat.filemode(facts.mode)[1:]


def _path(message: Message, name: str = "path") -> str:
    given: Any = message.get(name, "")
    if not isinstance(given, str):
        raise MalformedInput("A path must be a string.", field=name)
    return full_path(given)

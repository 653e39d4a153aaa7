"""Reads files of the packages that a snapshot has installed.

They are third-party files and are not trusted: no link is followed out of the home folder, and nothing is run.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from outlast_sandbox.package_names import NPM, PYPI

from .snapshots import NODE_FOLDER, PYTHON_FOLDER

MAX_FILES: Final = 50_000  # of one package that are listed
FILE_BYTES: Final = 5_000_000
Wanted = Callable[[str], bool]


def version_in(home: Path, package: str) -> str:
    """The installed version of a package, `npm:NAME` or `pypi:NAME`, or "" if it is not installed. Blocks."""
    if package.startswith(NPM):
        return _npm_version(_npm_folder(home, package), home)
    return _metadata(home, package)[0]


def files_in(home: Path, package: str, wanted: Wanted, most_bytes: int) -> tuple[str, dict[str, bytes]] | None:
    """(version, files by path within the package) for the requested paths, at most `most_bytes` together, or None if it
    is not installed. Blocks."""
    if package.startswith(NPM):
        folder = _npm_folder(home, package)
        version = _npm_version(folder, home)
        paths = _below(folder) if version else iter(())
    else:
        folder = home / PYTHON_FOLDER
        version, listed = _metadata(home, package)
        paths = iter(listed)
    if not version:
        return None
    contents: dict[str, bytes] = {}
    room = most_bytes
    for path in paths:
        data = _read(folder / path, home) if wanted(path) else b""
        if data and len(data) <= room:
            contents[path] = data
            room -= len(data)
    return version, contents


def _npm_folder(home: Path, package: str) -> Path:
    return home / NODE_FOLDER / package.removeprefix(NPM)


def _npm_version(folder: Path, home: Path) -> str:
    try:
        stated = json.loads(_read(folder / "package.json", home))
    except ValueError:
        return ""
    version = stated.get("version") if isinstance(stated, dict) else ""
    return version if isinstance(version, str) else ""


def _metadata(home: Path, package: str) -> tuple[str, list[str]]:
    """(version, the files that the installer recorded)."""
    plain_name = _plain(package.removeprefix(PYPI))
    for folder in sorted((home / PYTHON_FOLDER).glob("*.dist-info")):
        name, _, version = folder.name.removesuffix(".dist-info").rpartition("-")
        if _plain(name) == plain_name:
            record = _read(folder / "RECORD", home).decode("utf-8", "replace")
            listed = [line.split(",", 1)[0] for line in record.splitlines()[:MAX_FILES]]
            inside = [path for path in listed if not path.startswith(("/", ".."))]
            return version, inside or [f"{folder.name}/METADATA"]
    return "", []


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def _below(folder: Path) -> Iterator[str]:
    """Relative paths of a package's files, without those of nested packages."""
    count = 0
    base = os.path.realpath(folder)
    for root, folders, names in os.walk(base):
        folders[:] = sorted(one for one in folders if one != NODE_FOLDER)
        for name in sorted(names):
            count += 1
            if count > MAX_FILES:
                return
            yield os.path.relpath(os.path.join(root, name), base)


def _read(path: Path, home: Path) -> bytes:
    """A file's content if the path is in the home folder after resolving all links; otherwise b""."""
    real = os.path.realpath(path)
    if not real.startswith(os.path.realpath(home) + os.sep) or not os.path.isfile(real):
        return b""
    try:
        with open(real, "rb") as file:
            data = file.read(FILE_BYTES + 1)
    except OSError:
        return b""
    return data if len(data) <= FILE_BYTES else b""

"""The folder of `sandbox.template`, whose files are copied into the home folder of every sandbox."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from outlast.base.errors import InvalidSetting

TEMPLATE_BYTES: Final = 64 * 1024 * 1024
LEFT_OUT: Final = frozenset({".git", "node_modules"})


def check_template(folder: str) -> Path:
    """The configured folder, whose files are copied into every sandbox's home folder. Raises `InvalidSetting` when it
    does not exist."""
    root = Path(folder).expanduser()
    if not root.is_dir():
        raise _bad_template(folder, "the folder does not exist")
    return root


def read_template(folder: str) -> Mapping[str, bytes]:
    """The files below a folder by relative path, without `.git` and `node_modules`; links are left out. Blocking.
    Raises `InvalidSetting` when it is not a folder, or holds more than 64 MiB."""
    root = check_template(folder)
    found: dict[str, bytes] = {}
    size = 0
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        # A link could lead to any file of the server.
        if LEFT_OUT & set(relative.parts) or path.is_symlink() or not path.is_file():
            continue
        size += path.stat().st_size
        if size > TEMPLATE_BYTES:
            raise _bad_template(folder, "it holds more than 64 MiB")
        found[relative.as_posix()] = path.read_bytes()
    return found


def _bad_template(folder: str, why: str) -> InvalidSetting:
    return InvalidSetting(
        f"sandbox.template: {folder}: {why}.",
        hint="Name a folder with the files for every sandbox's home folder.",
        setting="sandbox.template",
        expected="a folder",
    )

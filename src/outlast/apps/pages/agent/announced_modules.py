"""What an agent announces as a module, as it has to be: a plain path of a file that can be imported. Pure."""

import re
from typing import Final, Protocol

from outlast.apps.pages.agent.module_list import PATH_CHARS
from outlast.kernel.library.import_check import ENDINGS
from outlast.kernel.library.modules import LIBRARY_FOLDER

_PATH: Final = re.compile(r"[\w.-]+(?:/[\w.-]+)*", re.ASCII)


class Announced(Protocol):
    @property
    def path(self) -> str: ...


def plain_path(path: str) -> str:
    """The path relative to the workspace, however it was written."""
    return path.strip().removeprefix("/workspace/").removeprefix("./")


def wrong_with(module: Announced) -> str:
    """Why this cannot be a module, for the agent; empty: nothing."""
    path = plain_path(module.path)
    shown = path[:PATH_CHARS]
    if path.startswith(LIBRARY_FOLDER):
        return (
            f"The module {shown} lies in {LIBRARY_FOLDER}, where published modules are put: save it elsewhere, as in "
            "lib/."
        )
    if _PATH.fullmatch(path) is None or ".." in path.split("/"):
        return f"The module {shown} needs a plain relative path, such as lib/linear.ts."
    if len(path) > PATH_CHARS:
        return f"The path of the module {shown}… is too long: at most {PATH_CHARS} characters."
    if not path.endswith(ENDINGS):
        return f"The module {shown} cannot be imported: its name must end with one of {', '.join(ENDINGS)}."
    return ""

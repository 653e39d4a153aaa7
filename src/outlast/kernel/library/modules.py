"""Modules: reusable code that agents saved as files, described and found again."""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple, Protocol

from outlast.base.errors import InternalError
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.apps.ports import Port
from outlast.kernel.library.shapes import ModuleData
from outlast.kernel.row_shapes import shape_of

LIBRARY_FOLDER: Final = "library/"
ENDINGS: Final = (".ts", ".mts", ".js", ".mjs", ".py")
MAX_ANNOUNCED_BYTES: Final = 1_000_000
MAX_BYTES: Final = 256_000  # of a published one


@dataclass(frozen=True, slots=True)
class NewModule:
    """A module that an agent announced: `path` is relative to the workspace, `exports` are names, `usage` an import to
    copy; `content_hash` is of the file when it was checked, `verified` is true if its import worked then."""

    path: str
    description: str
    exports: Sequence[str]
    usage: str
    content_hash: str | None = None
    verified: bool = False


class Module(NamedTuple):
    """A module's row. `exports` are names; `dependencies`: the hash that it was last verified with (None if never)."""

    id: str
    project_id: str | None
    workspace_id: str | None
    page_id: str | None
    user_id: str
    scope: Literal["session", "user"]
    path: str
    description: str
    exports: list[str]
    usage: str
    hash: str
    content_hash: str | None
    blob: str | None
    dependencies: str | None
    verified_at: datetime | None
    run_id: str | None
    published_by: str | None
    created_at: datetime
    updated_at: datetime

    @property
    def text(self) -> str:
        """The text that is searched and embedded; `hash` is its SHA-256."""
        return searched_text(self.path, self.description, self.exports, self.usage)

    @property
    def imported_path(self) -> str:
        """The path of its file in the workspace that uses it."""
        return f"{LIBRARY_FOLDER}{self.path}" if self.scope == "user" else self.path

    @property
    def imported_usage(self) -> str:
        """`usage` as it must be written in the workspace that uses it."""
        return library_usage(self.path, self.usage) if self.scope == "user" else self.usage

    def verified(self, dependencies: str) -> bool:
        """True if its import has worked with these dependencies (their hash)."""
        return self.verified_at is not None and self.dependencies == dependencies

    def data(self, dependencies: str) -> ModuleData:
        """The module as events and the API show it, for sandboxes with these dependencies."""
        return shape_of(ModuleData, self, verified=self.verified(dependencies))


def searched_text(path: str, description: str, exports: Iterable[str], usage: str) -> str:
    """The text by which a module is found."""
    return f"{description}\n{path}: {', '.join(exports)}\n{usage}"


def text_hash(text: str) -> str:
    """The key of a text's vector: SHA-256 in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def library_usage(path: str, usage: str) -> str:
    """A usage that names `./path` (or the Python module of `path`), with the library's folder in front."""
    if path.endswith(".py"):
        dotted = path.removesuffix(".py").replace("/", ".")
        return usage.replace(f"from {dotted} ", f"from library.{dotted} ").replace(
            f"import {dotted}", f"import library.{dotted}"
        )
    return usage.replace(f"./{path}", f"./{LIBRARY_FOLDER}{path}")


@dataclass(frozen=True, slots=True)
class ModuleOrigin:
    """The origin of a module. `user_id`: the user for whom it was made, or whose library it is published to."""

    project_id: str | None
    page_id: str | None
    user_id: str
    run_id: str | None


class Library(Protocol):
    """Stores modules. First argument: the open transaction. Without an app that implements this, none are stored."""

    def of_workspace(self, tx: Tx, workspace_id: str) -> list[Module]:
        """The announced modules of a workspace, by path; does not check that their files still exist."""
        return []

    def save(
        self, tx: Tx, announced: Sequence[NewModule], origin: ModuleOrigin, workspace_id: str, dependencies: str
    ) -> list[Module]:
        """Add the modules of a workspace, or replace earlier ones with the same paths. Returns the rows, in order."""
        return []

    def publish(
        self, tx: Tx, announced: NewModule, origin: ModuleOrigin, published_by: str, dependencies: str
    ) -> Module:
        """Put a module into a user's library, replacing an earlier one with the same path. Its file must already be
        stored under its `content_hash`."""
        raise InternalError("This server stores no modules.")

    def mark_verified(self, tx: Tx, module_ids: Collection[str], dependencies: str) -> None:
        """Record that their imports have just worked with these dependencies."""
        return


class NoLibrary(Library):
    """Keeps none."""


LIBRARY: Final[Port[Library]] = Port("library of modules", NoLibrary())


class UsableModules(Protocol):
    """Finds the modules that a run may use. `dependencies`: the hash of what sandboxes have installed."""

    @property
    def dependencies(self) -> str:
        return ""

    async def usable(self, workspace_id: str | None, user_id: str | None) -> list[Module]:
        """The modules of the workspace, then those published to the user, by path. Rows with missing files are deleted
        at once. Repeatable; a cancelled call may already have deleted them."""
        return []


class NoModules(UsableModules):
    """Finds none."""


USABLE_MODULES: Final[Port[UsableModules]] = Port("usable modules", NoModules())

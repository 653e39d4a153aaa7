"""The list of a screen's files that its agent gets at the start of a run.

Read from the newest checkpoint that the run itself has not made, so that the list stays the same for all its turns and
providers' caches stay valid; the run knows its own changes.
"""

from collections.abc import Iterable
from functools import partial
from typing import Final

import sqlalchemy as sa

from outlast.db.blobs.at_hand import Readable
from outlast.db.blobs.port import Blobs
from outlast.db.database import Tx
from outlast.kernel.sandboxes.tables import checkpoints
from outlast.kernel.sandboxes.translation import translated
from outlast_sandbox.checkpoints.tree import Tree, decode

KIT: Final = "components/ui/"
MAX_SHOWN: Final = 300
MAX_CHARS: Final = 12_000
# For the server and the person, not for the agent.
_BESIDE: Final = ("outlast/", "package-lock.json", "next-env.d.ts", "node_modules/", ".next/", ".vite/")
_KEPT: Final = 64


class FileLists:
    """Lists of paths by checkpoint. Caches the last few in memory, by the hash of their content."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._lists: dict[str, tuple[str, ...]] = {}

    def before_run(
        self, tx: Tx, workspace_id: str, run_id: str, at_hand: Readable | None = None
    ) -> tuple[str, ...] | None:
        """Paths of the workspace's files, sorted, as they were when the run began, or None if they were never saved.
        `at_hand`: the blobs that the transaction may read."""
        mine = checkpoints.c.workspace_id == workspace_id
        others = sa.or_(checkpoints.c.run_id.is_(None), checkpoints.c.run_id != run_id)
        newest = sa.select(checkpoints.c.tree).where(mine, others).order_by(checkpoints.c.id.desc()).limit(1)
        name = tx.execute(newest).scalar()
        return None if name is None else self.of_tree(str(name), at_hand)

    def of_tree(self, name: str, at_hand: Readable | None = None) -> tuple[str, ...]:
        """Paths of the files of a checkpoint's manifest. Raises `NotFound`, `InternalError` for a damaged one."""
        found = self._lists.get(name)
        if found is None:
            tree = _read(at_hand or self._blobs, name)
            found = tuple(entry.path for entry in tree.entries if entry.kind != "directory")
            self._lists[name] = found
            for oldest in list(self._lists)[:-_KEPT]:
                self._lists.pop(oldest, None)
        return found


def _read(blobs: Readable, name: str) -> Tree:
    with translated():
        return decode(blobs.get(name), partial(_read, blobs))


def listed(paths: Iterable[str]) -> str:
    """The list for a prompt: one path per line, the kit's components on one line; at most 300, the rest counted."""
    shown = [path for path in paths if not path.startswith(_BESIDE)]
    kit = [path.removeprefix(KIT).removesuffix(".tsx") for path in shown if path.startswith(KIT)]
    own = [path for path in shown if not path.startswith(KIT)]
    lines: list[str] = []
    chars = 0
    for path in own[:MAX_SHOWN]:
        chars += len(path) + 1
        if chars > MAX_CHARS:
            break
        lines.append(path)
    if len(lines) < len(own):
        lines.append(f"… and {len(own) - len(lines)} more")
    if kit:
        lines.append(f"{KIT}: {', '.join(kit[:MAX_SHOWN])}")
    return "\n".join(lines)

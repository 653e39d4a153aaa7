"""What a module has to be to be published: one file that stands alone."""

from dataclasses import dataclass
from typing import Final

import anyio.to_thread

from outlast.base.errors import MalformedInput
from outlast.db.blobs import FolderBlobs
from outlast.kernel.library.code_uses import relative_imports
from outlast.kernel.library.import_check import missing, try_import
from outlast.kernel.library.modules import Module, NewModule, hash_of
from outlast_sandbox.interface import Sandbox

MOST_BYTES: Final = 256_000


@dataclass(frozen=True, slots=True)
class Publication:
    """A file that may be published: its module and where its content is stored."""

    module: NewModule
    blob: str


async def publishable(
    module: NewModule, content: bytes, blobs: FolderBlobs, sandbox: Sandbox | None, effect_id: str, attempt: int = 1
) -> Publication:
    """The module with its file stored, once it is seen to stand alone and, where a sandbox is given, to be imported
    there. Raises `MalformedInput` with what is in its way, `DiskFull`. Repeatable."""
    if len(content) > MOST_BYTES:
        raise MalformedInput(f"The module {module.path} is longer than {MOST_BYTES:,} bytes.", path=module.path)
    text = content.decode("utf-8", "replace")
    leaning = relative_imports(text, module.path)
    if leaning:
        raise MalformedInput(
            f"The module {module.path} imports {', '.join(leaning[:5])}: a published module stands alone.",
            hint="Put what it needs into the same file.",
            path=module.path,
        )
    verified = False
    if sandbox is not None:
        # An id for each attempt: what one acknowledged, it may not have recorded.
        import_id = f"{effect_id}-import{attempt}"
        found = await try_import(sandbox, module.path, hash_of(text), import_id, attempt)
        lacking = missing(module.exports, found, text)
        if found.error or lacking:
            why = found.error or f"it does not export {', '.join(lacking)}"
            raise MalformedInput(f"The module {module.path} cannot be imported: {why}", path=module.path)
        verified = True
    blob = await anyio.to_thread.run_sync(blobs.put, content)
    said = NewModule(module.path, module.description, module.exports, module.usage, blob, verified)
    return Publication(said, blob)


def announced(module: Module) -> NewModule:
    """A module's row as it would be announced anew."""
    return NewModule(module.path, module.description, module.exports, module.usage, module.content_hash)

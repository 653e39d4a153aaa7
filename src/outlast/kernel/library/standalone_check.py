"""What a module has to be to be published: one file that stands alone."""

from typing import Final

import anyio.to_thread

from outlast.base.errors import MalformedInput
from outlast.db.blobs import FolderBlobs
from outlast.kernel.library.code_uses import relative_imports
from outlast.kernel.library.import_check import missing, try_import
from outlast.kernel.library.modules import Module, NewModule, hash_of
from outlast_sandbox.interface import Sandbox

MAX_BYTES: Final = 256_000


async def publishable(
    module: NewModule, content: bytes, blobs: FolderBlobs, sandbox: Sandbox | None, effect_id: str, attempt: int = 1
) -> NewModule:
    """The module with its file stored under its `content_hash`, once it is seen to stand alone and, where a sandbox is
    given, to be imported there. Raises `MalformedInput` with what is in its way, `DiskFull`. Repeatable."""
    if len(content) > MAX_BYTES:
        raise MalformedInput(f"The module {module.path} is longer than {MAX_BYTES:,} bytes.", path=module.path)
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
    return NewModule(module.path, module.description, module.exports, module.usage, blob, verified)


def announced(module: Module) -> NewModule:
    """A module's row as it would be announced anew."""
    return NewModule(module.path, module.description, module.exports, module.usage, module.content_hash)

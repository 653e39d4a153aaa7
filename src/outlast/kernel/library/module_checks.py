"""Checks that a saved module can be published as one self-contained file."""

from dataclasses import replace

import anyio.to_thread

from outlast.base.errors import MalformedInput
from outlast.db.blobs.port import Blobs
from outlast.kernel.library.code_uses import relative_imports
from outlast.kernel.library.modules import MAX_BYTES, NewModule, text_hash
from outlast_sandbox.interface import Sandbox
from outlast_sandbox.module_imports import missing, try_import


async def publishable(
    module: NewModule, content: bytes, blobs: Blobs, sandbox: Sandbox | None, effect_id: str, attempt: int = 1
) -> NewModule:
    """The module, its file stored under its `content_hash`, after a check that it is self-contained and, if a sandbox
    is given, can be imported there. Raises `MalformedInput` with the reason if not, and `DiskFull`. Repeatable."""
    if len(content) > MAX_BYTES:
        raise MalformedInput(f"The module {module.path} is longer than {MAX_BYTES:,} bytes.", path=module.path)
    text = content.decode("utf-8", "replace")
    leaning = relative_imports(text, module.path)
    if leaning:
        raise MalformedInput(
            f"The module {module.path} imports {', '.join(leaning[:5])}: a published module must be self-contained.",
            hint="Put the imported code into the same file.",
            path=module.path,
        )
    if sandbox is not None:
        # An id for each attempt: an attempt may not have recorded what it acknowledged.
        import_id = f"{effect_id}-import{attempt}"
        found = await try_import(sandbox, module.path, text_hash(text), import_id, attempt)
        lacking = missing(module.exports, found, text)
        if found.error or lacking:
            why = found.error or f"it does not export {', '.join(lacking)}"
            raise MalformedInput(f"The module {module.path} cannot be imported: {why}", path=module.path)
    blob = await anyio.to_thread.run_sync(blobs.put, content)
    return replace(module, content_hash=blob, verified=sandbox is not None)

"""The content of a checkpoint's files, with the errors of the server."""

from outlast.db.blobs import FolderBlobs
from outlast.kernel.sandboxes.translation import translated
from outlast_sandbox.checkpoints import contents
from outlast_sandbox.checkpoints.tree import Entry


@translated()
def content_of(blobs: FolderBlobs, entry: Entry) -> bytes:
    """A file's whole content. Raises `StoredFileDamaged` when it is not what was saved, `StoredFileMissing`. Blocks."""
    return contents.content_of(blobs, entry)


@translated()
def beginning_of(blobs: FolderBlobs, entry: Entry, max_bytes: int) -> bytes:
    """The first `max_bytes` of a file; a longer one is not checked. Errors as `content_of`. Blocks."""
    return contents.beginning_of(blobs, entry, max_bytes)

"""Sources that are folders of a repository, read from its archive."""

from collections.abc import Mapping
from typing import Final

import anyio.to_thread

from outlast.apps.knowledge.readers.archives import ARCHIVE_BYTES, inner_path, read_files
from outlast.apps.knowledge.readers.folders import LEFT_OUT, MAX_FILES, read_document
from outlast.apps.knowledge.settings import SOURCE_BYTES
from outlast.apps.knowledge.source_documents import Reading
from outlast.apps.knowledge.sources import Archive
from outlast.kernel.http.private_addresses import NONE, Allowed
from outlast.kernel.web.http_fetch import Fetcher, NotRead, too_large

ENDINGS: Final = (".md", ".mdx", ".markdown")
USUAL: Final = ("docs", "doc", "documentation", "website/docs", "site/docs")
UNPACKED_BYTES: Final = 2_000_000_000  # maximum to search for documents


async def read_archive(
    fetcher: Fetcher, archive: Archive, most_bytes: int, etag: str | None, modified: str | None, allowed: Allowed = NONE
) -> Reading:
    """The documents of a repository's folder. Raises `NotRead`."""
    answer = await fetcher.get(archive.url, ARCHIVE_BYTES, allowed=allowed, etag=etag, modified=modified, accept="*/*")
    if answer.unchanged:
        return Reading(documents=None, etag=answer.etag, modified=answer.modified)
    files = await anyio.to_thread.run_sync(_unpacked, answer.body, archive, most_bytes)
    documents = []
    for path, data in sorted(files.items()):
        shown = f"{archive.shown_at}{path}" if archive.shown_at else f"{archive.url}#{path}"
        documents.append(await anyio.to_thread.run_sync(read_document, path, data, shown))
    return Reading(documents=documents, etag=answer.etag, modified=answer.modified)


def _unpacked(body: bytes, archive: Archive, most_bytes: int) -> Mapping[str, bytes]:
    """The files by path in the repository. Blocking. Raises `NotRead`."""
    files = read_files(
        body, archive.url, lambda name, size: _inner_path(name) if size <= most_bytes else "", UNPACKED_BYTES
    )
    if len(files) > MAX_FILES:
        raise NotRead("the archive contains more documents than the limit")
    chosen = _chosen(files, archive.folder)
    if not chosen:
        below = f" below {archive.folder}" if archive.folder else ""
        raise NotRead(f"{archive.url} contains no documents{below} ({', '.join(ENDINGS)})")
    size = sum(map(len, chosen.values()))
    if size > most_bytes:
        raise too_large(archive.url, most_bytes, SOURCE_BYTES)
    return chosen


def _chosen(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    """The files in the folder; without one, those in the usual folders of documentation, and the README."""
    if folder:
        inside = folder.strip("/") + "/"
        return {path: data for path, data in files.items() if path.startswith(inside) or path == folder.strip("/")}
    for usual in USUAL:
        found = {path: data for path, data in files.items() if path.lower().startswith(f"{usual}/")}
        if found:
            return found | {path: data for path, data in files.items() if path.lower() == "readme.md"}
    return {path: data for path, data in files.items() if "/" not in path}


def _inner_path(name: str) -> str:
    """The path in the repository; empty if the file is not a document."""
    path = inner_path(name)
    wanted = path.lower().endswith(ENDINGS) and not path.startswith(("../", "/"))
    return path if wanted and not LEFT_OUT.intersection(path.split("/")) else ""

"""Sources that are folders of Markdown: one of this machine, or one of a repository, from its archive."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import anyio.to_thread

from outlast.apps.knowledge.documents import Document, Reading, read_file_text
from outlast.apps.knowledge.http_fetch import Fetcher, NotRead, too_large
from outlast.apps.knowledge.passages import NoPage
from outlast.apps.knowledge.private_addresses import NONE, Allowed
from outlast.apps.knowledge.readers.archives import ARCHIVE_BYTES, inner_path, read_files
from outlast.apps.knowledge.sources import Archive

ENDINGS: Final = (".md", ".mdx", ".markdown", ".txt", ".rst", ".html", ".htm")
_PROSE: Final = (".md", ".mdx", ".markdown")
USUAL: Final = ("docs", "doc", "documentation", "website/docs", "site/docs")
UNPACKED_BYTES: Final = 2_000_000_000  # that are looked through for documents
FILES: Final = 5_000
_LEFT_OUT: Final = frozenset({"node_modules", "__pycache__", "venv", "dist", "build", "target"})


def read_path(location: str, most_bytes: int) -> Reading:
    """One file of this machine, or the documents below a folder, where links to elsewhere are not followed; at most
    `most_bytes` together. Blocking. Raises `NotRead`."""
    path = Path(location.removeprefix("file://")).expanduser()
    documents: list[Document] = []
    left = most_bytes
    for file in _files_below(path) if path.is_dir() else (path,):
        try:
            with file.open("rb") as opened:
                data = opened.read(left + 1)
        except OSError as error:
            raise NotRead(f"{file} cannot be read: {error.strerror}") from None
        left -= len(data)
        if left < 0:
            raise too_large(str(path), most_bytes)
        name = file.name if file == path else file.relative_to(path).as_posix()
        documents.append(_document(name, data, name))
    if not documents:
        raise NotRead(f"{path} holds no documents ({', '.join(ENDINGS)})")
    return Reading(documents=documents)


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
        documents.append(await anyio.to_thread.run_sync(_document, path, data, shown))
    return Reading(documents=documents, etag=answer.etag, modified=answer.modified)


def _files_below(folder: Path) -> Iterator[Path]:
    count = 0
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _LEFT_OUT)
        for name in sorted(names):
            path = Path(root, name)
            if name.lower().endswith(ENDINGS) and not path.is_symlink():
                count += 1
                if count > FILES:
                    raise NotRead(f"{folder} holds more than {FILES} documents")
                yield path


def _document(path: str, data: bytes, url: str) -> Document:
    try:
        title, text = read_file_text(path, data.decode("utf-8", "replace"), url)
    except NoPage as error:
        raise NotRead(f"{path} cannot be read as a web page: {error}") from None
    return Document(url=url, text=text, title=title, path=path)


def _unpacked(body: bytes, archive: Archive, most_bytes: int) -> Mapping[str, bytes]:
    """By path in the repository. Blocking. Raises `NotRead`."""
    files = read_files(
        body, archive.url, lambda name, size: _inner_path(name) if size <= most_bytes else "", UNPACKED_BYTES
    )
    if len(files) > FILES:
        raise NotRead("the archive holds more documents than are looked through")
    chosen = _chosen(files, archive.folder)
    if not chosen:
        below = f" below {archive.folder}" if archive.folder else ""
        raise NotRead(f"{archive.url} holds no documents{below} ({', '.join(_PROSE)})")
    size = sum(map(len, chosen.values()))
    if size > most_bytes:
        raise too_large(archive.url, most_bytes)
    return chosen


def _chosen(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    """Those in the folder; without one, those in the usual folders of documentation, and the README."""
    if folder:
        inside = folder.strip("/") + "/"
        return {path: data for path, data in files.items() if path.startswith(inside) or path == folder.strip("/")}
    for usual in USUAL:
        found = {path: data for path, data in files.items() if path.lower().startswith(f"{usual}/")}
        if found:
            return found | {path: data for path, data in files.items() if path.lower() == "readme.md"}
    return {path: data for path, data in files.items() if "/" not in path}


def _inner_path(name: str) -> str:
    """The path in the repository; empty for what is no document."""
    path = inner_path(name)
    wanted = path.lower().endswith(_PROSE) and not path.startswith(("../", "/"))
    return path if wanted and not _LEFT_OUT.intersection(path.split("/")) else ""

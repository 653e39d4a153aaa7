"""Sources that are files or folders of this machine."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from outlast.apps.knowledge.settings import SOURCE_BYTES
from outlast.apps.knowledge.source_documents import Document, Reading, read_file_text
from outlast.kernel.web.errors import NoPage
from outlast.kernel.web.http_fetch import NotRead, too_large

ENDINGS: Final = (".md", ".mdx", ".markdown", ".txt", ".rst", ".html", ".htm")
MAX_FILES: Final = 5_000
LEFT_OUT: Final = frozenset({"node_modules", "__pycache__", "venv", "dist", "build", "target"})


def read_path(location: str, most_bytes: int) -> Reading:
    """One file of this machine, or the documents below a folder, without following links out of it; at most
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
            raise too_large(str(path), most_bytes, SOURCE_BYTES)
        name = file.name if file == path else file.relative_to(path).as_posix()
        documents.append(read_document(name, data, name))
    if not documents:
        raise NotRead(f"{path} contains no documents ({', '.join(ENDINGS)})")
    return Reading(documents=documents)


def _files_below(folder: Path) -> Iterator[Path]:
    count = 0
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in LEFT_OUT)
        for name in sorted(names):
            path = Path(root, name)
            if name.lower().endswith(ENDINGS) and not path.is_symlink():
                count += 1
                if count > MAX_FILES:
                    raise NotRead(f"{folder} contains more than {MAX_FILES} documents")
                yield path


def read_document(path: str, data: bytes, url: str) -> Document:
    """One file as a document. Raises `NotRead`."""
    try:
        title, text = read_file_text(path, data.decode("utf-8", "replace"), url)
    except NoPage as error:
        raise NotRead(f"{path} cannot be read as a web page: {error}") from None
    return Document(url=url, text=text, title=title, path=path)

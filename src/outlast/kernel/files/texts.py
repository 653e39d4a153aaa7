"""The text of a file, page by page: text files unchanged, PDFs through a separate program, images have none."""

import json
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import anyio
import anyio.to_thread

from outlast.base.records import dataclass
from outlast.kernel.files.kinds import PDF, decoded

PAGE_BREAK: Final = "\f"
MAX_CHARS: Final = 5_000_000  # about one long book; longer files are read up to here
NO_TEXT: Final = "It contains no text."
LONGER: Final = "Not all of it was read: it has more text than is stored."
_PROGRAM: Final = "outlast.kernel.files.pdf_text"


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file. `texts`: one for each page of a PDF, else at most one; `pages` is None for files without
    pages. `trouble` tells users why text is missing; `failed`: nothing could be read at all."""

    texts: Sequence[str]
    pages: int | None = None
    trouble: str | None = None
    failed: bool = False

    @property
    def whole(self) -> str:
        """The whole text; pages are separated by form feeds."""
        return PAGE_BREAK.join(self.texts)

    @property
    def characters(self) -> int:
        return sum(len(text.strip()) for text in self.texts)


async def read_text(media_type: str, content: bytes, most_s: float) -> FileText:
    """The text of a file. Takes at most about twice `most_s` seconds; cancelled, it leaves no process behind."""
    if media_type.startswith("image/"):
        return FileText((), trouble="It is an image: to show it to an agent that reads images, attach it to a message.")
    if media_type == PDF:
        return await _read_pdf(content, most_s)
    text = (await anyio.to_thread.run_sync(decoded, content)).replace(PAGE_BREAK, "\n")
    if not text.strip():
        return FileText((), trouble=NO_TEXT)
    return FileText((text[:MAX_CHARS],), trouble=LONGER if len(text) > MAX_CHARS else None)


async def _read_pdf(content: bytes, most_s: float) -> FileText:
    """Read a PDF in a program with `most_s` seconds of processor time, and twice as much time in all."""
    command = [sys.executable, "-I", "-m", _PROGRAM, str(max(1, int(most_s))), str(MAX_CHARS)]
    with anyio.move_on_after(2 * most_s):
        done = await anyio.run_process(
            command, input=content, check=False, stderr=subprocess.DEVNULL, env={"LANG": "C.UTF-8"}
        )
        return await anyio.to_thread.run_sync(partial(_told, done.stdout, finished=done.returncode == 0))
    return _told(b"", finished=False)


def _told(printed: bytes, *, finished: bool) -> FileText:
    lines: list[dict[str, Any]] = []
    for line in printed.splitlines():
        try:
            lines.append(json.loads(line))  # which accepts lone surrogates, too
        except ValueError:  # cut in the middle
            break
    texts = tuple(_plain(line["text"]) for line in lines if "text" in line)
    pages = next((int(line["pages"]) for line in lines if "pages" in line), None)
    error = next((str(line["error"]) for line in lines if "error" in line), None)
    if error is None and not finished:
        error = "reading it exceeds the time limit"
    if not any(text.strip() for text in texts):
        if error is not None:
            return FileText((), pages, f"Its text could not be read: {error}.", failed=True)
        return FileText((), pages, "It contains no text: its pages may be scanned images.")
    return FileText(texts, pages, None if error is None else f"Not all of it was read: {error}.")


def _plain(text: str) -> str:
    return (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace(PAGE_BREAK, "\n").replace("\x00", "")
    )

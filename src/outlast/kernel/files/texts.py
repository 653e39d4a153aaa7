"""The text of a file, page by page: texts as they are, PDFs by a program of their own, images have none."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import anyio
import anyio.to_thread

from outlast.kernel.files.kinds import PDF, decoded

PAGE_BREAK: Final = "\f"
MAX_CHARS: Final = 5_000_000  # a long book has one; what is longer is read up to here
NO_TEXT: Final = "It holds no text."
LONGER: Final = "Not all of it was read: it holds more text than is kept."
_PROGRAM: Final = "outlast.kernel.files.pdf_text"


@dataclass(frozen=True, slots=True)
class FileText:
    """What was read. `texts`: one for each page of a PDF, else at most one; `pages` None: it has none. `trouble` says
    for people why there is no text, or not all of it; `failed`: nothing could be read at all."""

    texts: Sequence[str]
    pages: int | None = None
    trouble: str | None = None
    failed: bool = False

    @property
    def whole(self) -> str:
        """All of it; pages are parted by form feeds."""
        return PAGE_BREAK.join(self.texts)

    @property
    def characters(self) -> int:
        return sum(len(text.strip()) for text in self.texts)


async def read_text(media_type: str, content: bytes, most_s: float) -> FileText:
    """The text of a file. Takes at most about twice `most_s` seconds; cancelled, it leaves no process behind."""
    if media_type.startswith("image/"):
        return FileText((), trouble="It is an image: agents that see can be shown it in a message.")
    if media_type == PDF:
        return await _read_pdf(content, most_s)
    text = (await anyio.to_thread.run_sync(decoded, content)).replace(PAGE_BREAK, "\n")
    if not text.strip():
        return FileText((), trouble=NO_TEXT)
    return FileText((text[:MAX_CHARS],), trouble=LONGER if len(text) > MAX_CHARS else None)


async def _read_pdf(content: bytes, most_s: float) -> FileText:
    """By a program that has `most_s` seconds of a processor; as long again where the machine is busy."""
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
            lines.append(json.loads(line))  # which takes lone surrogates, too
        except ValueError:  # cut in the middle
            break
    texts = tuple(_plain(line["text"]) for line in lines if "text" in line)
    pages = next((int(line["pages"]) for line in lines if "pages" in line), None)
    error = next((str(line["error"]) for line in lines if "error" in line), None)
    if error is None and not finished:
        error = "reading it takes longer than a file may take"
    if not any(text.strip() for text in texts):
        if error is not None:
            return FileText((), pages, f"Its text could not be read: {error}.", failed=True)
        return FileText((), pages, "It holds no text: its pages may be scanned pictures.")
    return FileText(texts, pages, None if error is None else f"Not all of it was read: {error}.")


def _plain(text: str) -> str:
    return (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace(PAGE_BREAK, "\n").replace("\x00", "")
    )

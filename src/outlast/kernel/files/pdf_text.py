"""Extracts the text of a PDF, one JSON line per page. A separate program, because PDFs are untrusted: it bounds its own
time and memory, writes nothing but its answer, and inherits nothing of the server's environment.

    python -I -m outlast.kernel.files.pdf_text CPU_SECONDS MAX_CHARS < FILE

Its first line is `{"pages": N}`, then `{"text": "…"}` for each page, and `{"error": "…"}` where it had to stop.
"""

import json
import sys
from collections.abc import Iterator
from io import BytesIO
from typing import Any, Final

from outlast.kernel.files.bounded_process import bound_process

MAX_PAGES: Final = 5_000


def main() -> None:
    cpu_s, most_chars = int(sys.argv[1]), int(sys.argv[2])
    bound_process(cpu_s)
    for line in _lines(BytesIO(sys.stdin.buffer.read()), most_chars):
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def _lines(file: BytesIO, most_chars: int) -> Iterator[dict[str, Any]]:
    import logging

    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(file)
        if reader.is_encrypted and not reader.decrypt(""):
            yield {"error": "it is protected by a password"}
            return
        pages = len(reader.pages)
    except MemoryError:
        yield {"error": "it takes too much memory to read"}
        return
    except Exception as error:  # a broken file can make the reader raise anything
        yield {"error": f"it is damaged ({type(error).__name__})"}
        return
    yield {"pages": pages}
    left = most_chars
    for page in reader.pages[:MAX_PAGES]:
        try:
            text = page.extract_text()
        except MemoryError:
            yield {"error": "it takes too much memory to read"}
            return
        except Exception:  # one page that cannot be read does not hide the others
            text = ""
        yield {"text": text[:left]}
        left -= len(text)
        if left <= 0:
            yield {"error": "it has more text than is stored"}
            return


if __name__ == "__main__":
    main()

"""Indexes as files, so that a start does not have to tokenize every text again.

One file per source in a folder of this machine. It is derived: deleting it only costs time. A file that
was made with other rules, of other content, or that cannot be read, is ignored.
"""

import logging
import os
import struct
import zipfile
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from outlast.apps.knowledge import tokenizer as words
from outlast.apps.knowledge.arrays import Bytes, np
from outlast.apps.knowledge.postings import Postings
from outlast.base.records import dataclass

FORMAT: Final = 1
SUFFIX: Final = ".npz"
log = logging.getLogger("outlast.knowledge")


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """The index of one source at one revision: `ids` and `hashes` of its passages, in the postings' order."""

    source_id: str
    revision: int
    ids: tuple[str, ...]
    hashes: tuple[str, ...]
    postings: Postings

    @property
    def size_bytes(self) -> int:
        return self.postings.size_bytes + 230 * len(self.ids)


def save(folder: Path, segment: Segment) -> None:
    """Write the file, replacing an older one. Never raises: a full disk only costs time at the next start."""
    at = folder / (segment.source_id + SUFFIX)
    part = at.with_suffix(f".{os.getpid()}.part")
    postings = segment.postings
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            np.savez(
                file,
                made=np.array([FORMAT, words.VERSION, segment.revision], np.int64),
                terms=_bytes(postings.terms),
                ids=_bytes(segment.ids),
                hashes=_bytes(segment.hashes),
                starts=postings.starts,
                passages=postings.passages,
                counts=postings.counts,
                lengths=postings.lengths,
            )
        part.replace(at)
    except OSError as error:
        log.warning("search index not kept", extra={"source_id": segment.source_id, "reason": str(error)})
        with suppress(OSError):
            part.unlink(missing_ok=True)


def is_kept(folder: Path, source_id: str, revision: int) -> bool:
    """True if `load` may find a file; does not need NumPy. Blocking."""
    try:
        with zipfile.ZipFile(folder / (source_id + SUFFIX)) as file:
            made = struct.unpack("<3q", file.read("made.npy")[-24:])
    except Exception:  # as in `load`
        return False
    return made == (FORMAT, words.VERSION, revision)


def load(folder: Path, source_id: str, revision: int) -> Segment | None:
    """The index stored for this revision, or None if there is no usable one."""
    try:
        with np.load(folder / (source_id + SUFFIX), allow_pickle=False) as file:
            if file["made"].tolist() != [FORMAT, words.VERSION, revision]:
                return None
            terms = {term: number for number, term in enumerate(_texts(file["terms"]))}
            postings = Postings(terms, file["starts"], file["passages"], file["counts"], file["lengths"])
            ids, hashes = _texts(file["ids"]), _texts(file["hashes"])
    except FileNotFoundError:
        return None
    except Exception as error:  # the edge of a cache: a broken file only means that the index is built again
        log.debug("search index not read", extra={"source_id": source_id, "reason": repr(error)})
        return None
    if not len(ids) == len(hashes) == len(postings) or len(postings.starts) != len(terms) + 1:
        return None
    return Segment(source_id, revision, ids, hashes, postings)


def forget(folder: Path, source_id: str) -> None:
    """Remove a source's file, if it exists."""
    with suppress(OSError):
        (folder / (source_id + SUFFIX)).unlink(missing_ok=True)


def keep_only(folder: Path, source_ids: Collection[str]) -> None:
    """Remove the files of all other sources, and files that a crash left half written."""
    with suppress(OSError):
        for file in folder.iterdir():
            if file.suffix == ".part" or (file.suffix == SUFFIX and file.stem not in source_ids):
                file.unlink(missing_ok=True)


def _bytes(texts: Collection[str]) -> Bytes:
    return np.frombuffer("\n".join(texts).encode(), np.uint8)  # no term, id or hash has a line break


def _texts(joined: Bytes) -> tuple[str, ...]:
    text = joined.tobytes().decode()
    return tuple(text.split("\n")) if text else ()

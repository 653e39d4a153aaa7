"""Text as search terms: lower case, without accents, identifiers also in their parts, in the singular.

Total: any text has a list of terms, perhaps an empty one. The same on every database and machine, so `VERSION`
identifies the rules of stored indexes; raise it with any change here.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

from outlast.base.data_files import read_names

VERSION: Final = 1
MAX_WORD_CHARS: Final = 64
MAX_QUERY_TERMS: Final = 64
_CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
# Patterns with large ranges take milliseconds to compile, so the first search compiles them, not the start.
_RAW: Final = rf"[{_CJK}]{{1,32}}|[^\W{_CJK}]+"
_IDEOGRAPHS: Final = rf"[{_CJK}]+"
_PIECE: Final = re.compile(r"[^\W_]+")
_CAMEL: Final = re.compile(
    r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\WA-Za-z\d_]+"
)  # HTTPServer2 → HTTP Server 2
_ENDINGS: Final = ("ation", "ing", "ed", "er", "or", "ion", "ly", "e")
_STOP: Final = read_names(__file__, "stop_words")


def terms_of(text: str) -> list[str]:
    """The terms of a text in reading order, with repetitions. An identifier gives itself and its parts (`createIssues`:
    createissues, create, issue), ideographs give themselves one by one and in pairs. A word counts up to
    `MAX_WORD_CHARS`; time grows with the length, 100 KB take 15 ms."""
    return [term for raw in re.findall(_RAW, text) for term in _terms(raw[:MAX_WORD_CHARS])]


def query_terms(text: str) -> list[str]:
    """The search terms of a query: each once, in order, at most `MAX_QUERY_TERMS`."""
    return list(dict.fromkeys(terms_of(text)))[:MAX_QUERY_TERMS]


def found_words(text: str, terms: frozenset[str]) -> list[str]:
    """The words of a text, as written, that have one of these terms: for highlighting."""
    return list(
        dict.fromkeys(raw for raw in re.findall(_RAW, text) if not terms.isdisjoint(_terms(raw[:MAX_WORD_CHARS])))
    )


@lru_cache(maxsize=65_536)
def _terms(raw: str) -> tuple[str, ...]:
    if raw.isascii() and raw.islower() and raw.isalpha():  # the common case
        return () if raw in _STOP else (stem(raw),)
    if re.fullmatch(_IDEOGRAPHS, raw):
        return (*raw, *(raw[at : at + 2] for at in range(len(raw) - 1)))
    raw = _without_accents(raw)
    whole = raw.casefold()
    if whole in _STOP:
        return ()
    pieces = [part.casefold() for piece in _PIECE.findall(raw) for part in _CAMEL.findall(piece)]
    if len(pieces) < 2:
        return tuple(map(stem, pieces))
    return (whole, *(stem(piece) for piece in pieces if piece not in _STOP))


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(c for c in apart if not "\u0300" <= c <= "\u036f"))


def stem(word: str) -> str:
    """An English word in the singular; a short or non-English word stays as it is."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def relatives(term: str) -> tuple[str, ...]:
    """Other forms of a term (`installing`: install, installed …), for one that occurs nowhere."""
    if len(term) < 5 or not term.isascii() or not term.isalpha():
        return ()
    cut = (term.removesuffix(ending) for ending in _ENDINGS if term.endswith(ending))
    root = next((one for one in cut if len(one) >= 3), term)
    if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "ls":
        root = root[:-1]
    forms = (root, *(root + ending for ending in _ENDINGS), root + root[-1] + "ing", root + root[-1] + "ed")
    return tuple(dict.fromkeys(form for form in forms if form != term))

"""Hides secrets in responses: a host that echoes a request must not reveal a secret to the sandbox.

Each form of a secret is replaced by asterisks of the same length, so that lengths sent earlier stay correct. Known
forms: as it is, URL-encoded, as JSON and HTML usually write it, hexadecimal, and base64 (both alphabets) at any
position inside a longer text; case is ignored. If a host encrypts, spaces, reverses or cuts the text, or encodes it as
numeric entities, escapes of every character or base32, the secret is not found: allow only hosts that you trust with
the secret.
"""

import base64
import html
import json
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import quote, quote_plus

MIN_PLAIN_BYTES: Final = 4  # a shorter secret would hide half of every response
MIN_ENCODED_BYTES: Final = 8


def forms_of(secret: bytes) -> frozenset[bytes]:
    """All texts that a host might write for the secret."""
    forms = {secret}
    text = secret.decode("latin-1")
    for quoted in (quote(secret, safe=""), quote(secret), quote_plus(secret)):
        forms |= {quoted.encode(), _lower_escapes(quoted).encode()}
    forms |= {_every_byte(secret, "%02X"), _every_byte(secret, "%02x")} if len(secret) < 1000 else set()
    for wide in {text, secret.decode("utf-8", "replace")}:
        plain_json = json.dumps(wide)[1:-1]
        forms |= {plain_json.encode(), plain_json.replace("/", "\\/").encode()}
        forms |= {html.escape(wide).encode(), html.escape(wide, quote=False).encode()}
    forms |= {secret.hex().encode(), secret.hex().upper().encode()}
    forms |= _base64_forms(secret)
    return frozenset(form for form in forms if _worth_hiding(form, secret))


def _worth_hiding(form: bytes, secret: bytes) -> bool:
    return len(form) >= (MIN_PLAIN_BYTES if form == secret else MIN_ENCODED_BYTES)


def _lower_escapes(quoted: str) -> str:
    parts = quoted.split("%")
    return parts[0] + "".join("%" + part[:2].lower() + part[2:] for part in parts[1:])


def _every_byte(secret: bytes, escape: str) -> bytes:
    return "".join("%" + (escape % byte) for byte in secret).encode()


def _base64_forms(secret: bytes) -> set[bytes]:
    """The part of the secret's base64 form that does not depend on the text before and after it."""
    forms = set()
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + secret)
        first = (before * 8 + 5) // 6  # characters with bits of the text before it
        last = (before + len(secret)) * 8 // 6  # and those with bits of the text after it
        form = encoded[first:last]
        forms |= {form, form.replace(b"+", b"-").replace(b"/", b"_")}
    return forms


class Redactor:
    """The forms of some secrets in lower case, ready to be searched for. Without forms all data passes unchanged.
    Bounds: time grows with the length of the data, piece by piece, for each form."""

    __slots__ = ("_forms", "_inside")

    def __init__(self, secrets: Iterable[bytes] = ()) -> None:
        forms = {form.lower() for secret in secrets if secret for form in forms_of(secret)}
        self._forms: Sequence[bytes] = sorted(forms, key=len, reverse=True)
        self._inside = frozenset(byte for form in forms for byte in form[:-1])  # the last bytes of partial forms

    def __repr__(self) -> str:
        return f"Redactor({len(self._forms)} forms)"

    def __bool__(self) -> bool:
        return bool(self._forms)

    def hide(self, data: bytes) -> bytes:
        """Redact a whole text, such as a header's value."""
        hidden = self._spans(data)
        return _covered(data, hidden) if hidden else data

    def finds(self, data: bytes) -> bool:
        """True if any part of the text would be hidden."""
        lower = data.lower()
        return any(form in lower for form in self._forms)

    def stream(self) -> "RedactedStream":
        """A new search over pieces of one body."""
        return RedactedStream(self)

    def _spans(self, data: bytes) -> list[tuple[int, int]]:
        spans, lower = [], data.lower()
        for form in self._forms:
            at = lower.find(form)
            while at >= 0:
                spans.append((at, at + len(form)))
                at = lower.find(form, at + 1)
        return spans

    def _undecided(self, data: bytes) -> int:
        """The start of the longest tail that may be the beginning of a form; the data's length if there is none."""
        earliest, data = len(data), data.lower()
        if not data or data[-1] not in self._inside:
            return earliest
        for form in self._forms:
            at = data.find(form[:1], max(0, len(data) - len(form) + 1))
            while 0 <= at < earliest:
                if form.startswith(data[at:]):
                    earliest = at
                    break
                at = data.find(form[:1], at + 1)
        return earliest


class RedactedStream:
    """Takes and returns pieces, of the same total length. Holds back only bytes that may be the beginning of a
    secret."""

    __slots__ = ("_kept", "_open", "_redactor")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._kept = b""
        self._open: list[tuple[int, int]] = []  # spans to hide in the bytes held back

    def feed(self, piece: bytes) -> bytes:
        redactor = self._redactor
        if not redactor:
            return piece
        data = self._kept + piece if self._kept else piece
        hidden = self._open + redactor._spans(data)
        end = redactor._undecided(data)
        self._kept = data[end:]
        if not hidden:
            return data[:end]
        self._open = [(max(start - end, 0), stop - end) for start, stop in hidden if stop > end]
        return _covered(data, hidden)[:end]

    def finish(self) -> bytes:
        """The bytes held back, at the end of the body."""
        rest = self._kept
        hidden = self._open + self._redactor._spans(rest)
        self._kept, self._open = b"", []
        return _covered(rest, hidden)


def _covered(data: bytes, spans: list[tuple[int, int]]) -> bytes:
    changed = bytearray(data)
    for start, end in spans:
        changed[start:end] = b"*" * (end - start)
    return bytes(changed)

"""JSON by the interpreter's own C functions, without the package `json`: that loads `re` and `enum` first, which would
cost every sandbox a third of the agent's start."""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any, Union

    Text = Union[str, bytes, bytearray]
    _json: Any
else:
    try:
        import _json
    except ImportError:  # an interpreter other than CPython
        _json = None

CONSTANTS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class _Reading:
    """The scanner's options, under the names that it expects."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = CONSTANTS.__getitem__


_scan = _json.make_scanner(_Reading) if _json is not None else None


def loads(text: Text) -> Any:
    """Parse JSON. Raises ValueError for a text that is not JSON in UTF-8, RecursionError for one that is nested too
    deeply."""
    plain = text if isinstance(text, str) else str(text, "utf-8")
    if _scan is None:
        import json

        return json.loads(plain)
    plain = plain.strip(" \t\n\r")
    try:
        value, end = _scan(plain, 0)
    except StopIteration:
        raise ValueError("the text is not JSON") from None
    if end != len(plain):
        raise ValueError("there is extra data after the JSON")
    return value


def dumps(value: Any) -> str:
    """The value as compact ASCII JSON. Raises TypeError for types that JSON does not have."""
    if _json is None:
        import json

        return json.dumps(value, separators=(",", ":"))
    escape = _json.encode_basestring_ascii
    encode = _json.make_encoder({}, _unknown, escape, None, ":", ",", False, False, True)
    return "".join(encode(value, 0))


def _unknown(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")

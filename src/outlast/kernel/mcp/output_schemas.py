"""Whether a structured result keeps to the schema that its tool declares. Both come from a server that may lie, so the
check is bounded: the library's own may be kept busy for ever on the event loop, by one regular expression. Blocks."""

from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from typing import Any, Final

import orjson

from outlast.kernel.mcp.definitions import MAX_SCHEMA_BYTES

MOST_STEPS: Final = 100_000  # each with the parts it looks at
MOST_S: Final = 1.0
MOST_CHARS: Final = 200
# Regular expressions hold the interpreter, comparing all items with each other takes squared time, and a schema of
# another kind inside would be checked without counting.
_NOT_CHECKED: Final = frozenset({"pattern", "patternProperties", "uniqueItems", "$schema"})
Check = Callable[[Any, Any, Any, Any], Iterator[Any] | None]


class _TooLong(Exception):
    pass


class _Bound:
    def __init__(self) -> None:
        self._steps, self._until = 0, monotonic() + MOST_S

    def counted(self, check: Check) -> Check:
        def counting(validator: Any, part: Any, value: Any, schema: Any) -> Iterator[Any]:
            self._steps += 1 + sum(len(one) for one in (part, value) if isinstance(one, dict | list))
            if self._steps > MOST_STEPS or monotonic() > self._until:
                raise _TooLong
            return iter(check(validator, part, value, schema) or ())

        return counting


def breach(schema: Mapping[str, Any], value: Any) -> str:
    """How the value breaks the schema; empty if it does not, or if that cannot be found out within bounds."""
    from jsonschema.validators import extend, validator_for
    from referencing import Registry

    bare = {word: part for word, part in schema.items() if word != "$schema"}
    try:
        if not _is_bounded(bare):
            return ""
        kind = validator_for(schema)
        kind.check_schema(bare)
        bound = _Bound()
        counting = extend(kind, {word: bound.counted(check) for word, check in kind.VALIDATORS.items()})
        error = next(counting(bare, registry=Registry()).iter_errors(value), None)
    except Exception:  # a schema that is none, that refers to nothing, or that has no end
        return ""
    return "" if error is None else " ".join(str(error.message).split())[:MOST_CHARS]


def _is_bounded(schema: Mapping[str, Any]) -> bool:
    if len(orjson.dumps(schema)) > MAX_SCHEMA_BYTES:
        return False
    parts: list[Any] = [schema]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            if not _NOT_CHECKED.isdisjoint(part) or not str(part.get("$ref", "#")).startswith("#"):
                return False
            parts.extend(part.values())
        elif isinstance(part, list):
            parts.extend(part)
    return True

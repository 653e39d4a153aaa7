"""What an MCP server says about a tool: bounded, hashed, and named for models. Pure."""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

import orjson

MAX_NAME_CHARS: Final = 128
MAX_DESCRIPTION_CHARS: Final = 8_000
MAX_SCHEMA_BYTES: Final = 64_000
CALL_NAME_CHARS: Final = 64  # what model providers accept
SEPARATOR: Final = "__"  # between the server and the tool; providers accept no dot
_OTHER: Final = re.compile(r"[^a-zA-Z0-9_-]")
HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


class Definition(NamedTuple):
    """A tool as its server describes it: `title`, `description`, `schema`, and `annotations` (the known hints)."""

    name: str
    title: str
    description: str
    schema: Mapping[str, Any]
    annotations: Mapping[str, bool]

    def as_json(self) -> dict[str, Any]:
        """All of it as a JSON object."""
        return self._asdict()

    def digest(self) -> str:
        """A hash that differs if anything of it does."""
        return sha256(orjson.dumps(self.as_json(), option=orjson.OPT_SORT_KEYS)).hexdigest()


class LeftOut(NamedTuple):
    """A tool that is not taken, and why."""

    name: str
    reason: str


def bounded(found: Sequence[Definition], most: int) -> tuple[list[Definition], list[LeftOut]]:
    """The tools that are taken, at most `most`, each name once; and those that are left out."""
    taken: dict[str, Definition] = {}
    out: list[LeftOut] = []
    for one in found:
        reason = _unusable(one) or ("another tool has the same name" if one.name in taken else "")
        if not reason and len(taken) == most:
            reason = f"a server may have {most} tools"
        if reason:
            out.append(LeftOut(one.name[:MAX_NAME_CHARS], reason))
        else:
            taken[one.name] = one
    return list(taken.values()), out


def _unusable(one: Definition) -> str:
    if not 0 < len(one.name) <= MAX_NAME_CHARS or not one.name.isprintable():
        return f"its name is not one line of at most {MAX_NAME_CHARS} characters"
    if len(one.description) > MAX_DESCRIPTION_CHARS:
        return f"its description has more than {MAX_DESCRIPTION_CHARS:,} characters"
    try:
        size = len(orjson.dumps(one.schema))
    except orjson.JSONEncodeError:
        return "its schema is not JSON"
    if size > MAX_SCHEMA_BYTES:
        return f"its schema has more than {MAX_SCHEMA_BYTES:,} bytes"
    return "" if one.schema.get("type", "object") == "object" else "its arguments are not an object"


def call_name(server: str, name: str) -> str:
    """The name by which models call a tool. One with other characters, or too long, gets a part of its hash, so that
    no two are equal."""
    plain = _OTHER.sub("_", name)
    text = f"{server}{SEPARATOR}{plain}"
    if plain == name and len(text) <= CALL_NAME_CHARS:
        return text
    return f"{text[: CALL_NAME_CHARS - 9]}-{sha256(name.encode()).hexdigest()[:8]}"


def is_read_only(annotations: Mapping[str, bool]) -> bool:
    """True if the tool changes nothing."""
    return annotations.get("readOnlyHint", False)


def is_repeatable(annotations: Mapping[str, bool]) -> bool:
    """True if calling it twice does no more than calling it once."""
    return is_read_only(annotations) or annotations.get("idempotentHint", False)


def reason_to_ask(shown: str, annotations: Mapping[str, bool]) -> str:
    """Why a person decides on its calls; empty if they run without asking."""
    if is_read_only(annotations):
        return ""
    if annotations.get("destructiveHint", True):
        return f"{shown} may change or delete data outside of this server."
    return f"{shown} may change data outside of this server."

"""Identifiers that carry their kind: `run_01k…`, sortable by creation time."""

import os
import threading
import time
from collections.abc import Mapping
from typing import Final

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u
_PAIRS: Final = tuple(first + second for first in _ALPHABET for second in _ALPHABET)
_SHIFTS: Final = tuple(range(120, -1, -10))

KINDS: Final = {
    "user": "usr",
    "token": "tok",
    "session": "ses",
    "project": "prj",
    "invitation": "inv",
    "thread": "thr",
    "message": "msg",
    "compaction": "cmp",
    "part": "prt",
    "attachment": "att",
    "run": "run",
    "schedule": "sch",
    "effect": "eff",
    "approval": "apr",
    "question": "que",
    "grant": "grt",
    "step": "stp",
    "ledger": "led",
    "timer": "tim",
    "workspace": "wsp",
    "sandbox": "sbx",
    "checkpoint": "ckp",
    "deployment": "dep",
    "artifact": "art",
    "mention": "mtn",
    "webhook": "whk",
    "delivery": "whd",
    "hook": "hok",
    "hook_call": "hcl",
    "mcp_server": "mcp",
    "node": "nod",
    "event": "evt",
    "request": "req",
    "secret": "sct",
}


_kinds = KINDS
_lock: Final = threading.Lock()
_newest = 0


def use_kinds(kinds: Mapping[str, str]) -> None:
    """Let `new_id` create ids of these kinds too, with the prefix of each. Replaces the kinds of the call before."""
    global _kinds
    _kinds = {**KINDS, **kinds}


def all_kinds() -> Mapping[str, str]:
    """Every kind of id with its prefix."""
    return _kinds


def new_id(kind: str) -> str:
    """A new id of the given kind (a key of `KINDS`, or an app's): prefix, underscore, 26 characters.

    48 bits of milliseconds, then 80 random bits (the ULID layout). Ids of one kind sort by the millisecond, and those
    of one process in order of creation, as long as the clock does not go back.
    """
    global _newest
    with _lock:
        value = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10)) >> 1
        if value >> 80 == _newest >> 80:
            value = _newest + 1 + int.from_bytes(os.urandom(4))
        _newest = value
    return f"{_kinds[kind]}_" + "".join([_PAIRS[value >> shift & 1023] for shift in _SHIFTS])

"""The agent's JSON is that of the standard library."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast_sandbox.providers import local
from outlast_sandbox.providers.local.inside.json_text import dumps, loads

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_is_written_is_what_the_standard_library_writes_and_reads(value: object) -> None:
    assert dumps(value) == json.dumps(value, separators=(",", ":"))
    assert loads(dumps(value)) == value
    assert loads(f" \n{json.dumps(value, indent=1)}\t".encode()) == value


@given(st.text(max_size=40))
def test_what_the_standard_library_refuses_is_refused(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 - each kind of bad text has a message of its own
            loads(text)
    else:
        assert loads(text) == expected or math.isnan(expected)


@pytest.mark.parametrize("text", ["", "{", "[1,]", "{} {}", "nul", '"\n"', b"\xff", '{"a":}', "\ufeff{}", "\xa01"])
def test_bad_texts_raise_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - as above
        loads(text)


def test_what_is_nested_too_deeply_is_refused_without_harm() -> None:
    with pytest.raises(RecursionError):
        loads("[" * 200_000)


def test_what_json_has_not_is_refused() -> None:
    with pytest.raises(TypeError, match="bytes cannot be written"):
        dumps({"a": b""})


def test_the_agent_starts_without_the_slow_parts_of_the_library() -> None:
    folder = Path(local.__file__).parent
    slow = {"json", "re", "enum", "typing", "signal", "ctypes"}
    look = f"from inside import main; print({slow!r} & set(sys.modules))"
    start = f"import sys; sys.path.insert(0, {str(folder)!r}); {look}"
    words = [sys.executable, "-I", "-S", "-c", start]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "set()\n"

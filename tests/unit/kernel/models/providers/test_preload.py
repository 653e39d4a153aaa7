"""What a vendor's SDK would do with its first answer is done before, in a thread."""

from __future__ import annotations

import subprocess
import sys

import pytest

ASK = """
import sys
from outlast.kernel.models.providers import preload
preload(sys.argv[1])
from pydantic import BaseModel
waiting, unbuilt = [BaseModel], []
while waiting:
    model = waiting.pop()
    waiting += model.__subclasses__()
    if model.__module__.startswith(sys.argv[1] + ".") and not model.__pydantic_complete__:
        unbuilt.append(model.__qualname__)
print(len(unbuilt), "unbuilt", unbuilt[:5])
"""


@pytest.mark.parametrize("kind", ["openai", "anthropic", "google"])
def test_the_shapes_of_events_are_built_before_the_first_answer(kind: str) -> None:
    """Anthropic's took the event loop half a second."""
    told = subprocess.run([sys.executable, "-c", ASK, kind], check=True, capture_output=True, text=True)
    assert told.stdout.startswith("0 unbuilt"), told.stdout

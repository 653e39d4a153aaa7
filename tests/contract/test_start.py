"""What a server loads before anybody uses it."""

import subprocess
import sys

LOADED_WHEN_NEEDED = (
    "aiohttp",
    "anthropic",
    "asyncpg",
    "cryptography",
    "lxml",
    "mcp",
    "numpy",
    "openai",
    "pydantic_ai",
)


def test_large_libraries_load_with_the_first_who_needs_them() -> None:
    load = "import sys; from outlast.app import load; load()"
    script = f"{load}; print(*(name for name in {LOADED_WHEN_NEEDED} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == []

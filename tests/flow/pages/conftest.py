"""Real sandboxes for agents that run code."""

from tests.sandbox.conftest import cache_dir, local

__all__ = ["cache_dir", "local"]

"""Real sandboxes for flows that sleep and wake them."""

from tests.sandbox.conftest import cache_dir, local

__all__ = ["cache_dir", "local"]

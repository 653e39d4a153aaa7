"""The scene of the previews' tests, for pictures that screens load."""

from tests.flow.preview.conftest import inside, scene

__all__ = ["inside", "scene"]

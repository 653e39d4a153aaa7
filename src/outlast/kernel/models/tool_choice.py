"""The choices of a tool that are no tool's name."""

from typing import Final

AUTO: Final = "auto"  # the model chooses
REQUIRED: Final = "required"  # it must call a tool

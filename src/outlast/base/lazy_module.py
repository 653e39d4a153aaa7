"""Loads libraries at their first use: most servers never need some of the largest."""

from importlib import import_module
from typing import Any


class LazyModule:
    """A placeholder that imports its module when one of its names is used; each name is looked up once. Safe to use
    from several threads. Type checkers need the real import beside it:

        if TYPE_CHECKING:
            import numpy as np
        else:
            np = LazyModule("numpy")
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value

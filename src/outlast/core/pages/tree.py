"""A page as a tree, and its one canonical HTML."""

from typing import Any


class Tree:
    """A page's elements."""

    root: Any

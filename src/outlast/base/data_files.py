"""Data in a file beside the module that uses it: lists of names, prompts."""

from pathlib import Path


def read_text(module: str, name: str) -> str:
    """A file beside a module (its `__file__`), without the line break at its end."""
    return (Path(module).parent / name).read_text(encoding="utf-8").rstrip("\n")


def read_names(module: str, name: str) -> frozenset[str]:
    """The names in `<name>.txt`, a path beside a module, one a line."""
    return frozenset(read_text(module, f"{name}.txt").split())

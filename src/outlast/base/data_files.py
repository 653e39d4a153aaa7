"""Data in a file next to the module that uses it: lists of names, prompts."""

from pathlib import Path


def read_text(module: str, name: str) -> str:
    """The text of a file next to a module (its `__file__`), without the trailing line break."""
    return (Path(module).parent / name).read_text(encoding="utf-8").rstrip("\n")


def read_names(module: str, name: str) -> frozenset[str]:
    """The names in `<name>.txt`, a path relative to a module's folder, one per line."""
    return frozenset(read_text(module, f"{name}.txt").split())

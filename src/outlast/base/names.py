"""Lists of names that are data: CSS properties, stop words. Each lies in a text file of its own, one name a line."""

from pathlib import Path


def read_names(module: str, name: str) -> frozenset[str]:
    """The lines of `names/<name>.txt` beside a module (its `__file__`)."""
    path = Path(module).with_name("names") / f"{name}.txt"
    return frozenset(path.read_text(encoding="utf-8").split())

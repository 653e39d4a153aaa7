"""Draws the last results of `growth`: `python -m bench plot` writes the pictures of docs/concepts/performance.md."""

import json
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl

from bench.workloads.growth import MEASURED, RESULTS, UNITS

mpl.use("svg")
import matplotlib.pyplot as plt

IMAGES: Final = Path(__file__).parents[1] / "docs" / "images"
STYLE: Final[Any] = {
    "font.family": "sans-serif",
    "font.size": 10,
    "svg.fonttype": "none",
    "svg.hashsalt": "outlast",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
}
COLOURS: Final = ("#4f46e5", "#0891b2", "#16a34a", "#d97706")


def plot() -> list[Path]:
    """Writes one picture for each thing that grew; returns the files. Raises `FileNotFoundError` before `growth` has
    run in its long form."""
    curves = json.loads(RESULTS.read_text())
    with plt.rc_context(STYLE):
        return [_picture(name, points) for name, points in curves.items()]


def _picture(name: str, points: list[dict[str, Any]]) -> Path:
    figure, axes = plt.subplots(1, 2, figsize=(8, 2.9), layout="constrained")
    sizes = [f"{point['size']:,}" for point in points]
    for number, what in enumerate(MEASURED):
        panel = axes[0 if UNITS[number] == "µs" else 1]
        panel.plot(sizes, [point["costs"][number] for point in points], "o-", label=what, color=COLOURS[number])
    for panel, unit in zip(axes, ("µs", "ms"), strict=True):
        panel.set(xlabel=name, ylabel=unit)
        panel.set_ylim(0, 1.6 * max(max(line.get_ydata()) for line in panel.lines))  # room for the legend
        panel.legend(frameon=False, loc="upper left")
    path = IMAGES / f"growth-{name.split(maxsplit=1)[0]}.svg"
    figure.savefig(path, facecolor="white", metadata={"Date": None})
    plt.close(figure)
    return path

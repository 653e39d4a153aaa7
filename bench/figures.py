"""Figures and their table."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value. `goal` is Outlast's goal in the figure's unit, or None if it is only for comparison.
    `spread`: the minimum and maximum of several rounds."""

    name: str
    value: float
    unit: str
    goal: float | None = None
    more_is_better: bool = False
    spread: tuple[float, float] | None = None

    def reached(self) -> bool | None:
        if self.goal is None or math.isnan(self.value):
            return None
        return self.value >= self.goal if self.more_is_better else self.value <= self.goal


Results = Mapping[str, Sequence[Figure]]  # by contestant


def median(rounds: Sequence[Sequence[Figure]]) -> list[Figure]:
    """Figure by figure, the median of several rounds (the upper one of an even number), with their spread."""
    return [_middle(sorted(column, key=lambda figure: figure.value)) for column in zip(*rounds, strict=True)]


def _middle(ordered: Sequence[Figure]) -> Figure:
    spread = (ordered[0].value, ordered[-1].value) if len(ordered) > 1 else None
    return replace(ordered[len(ordered) // 2], spread=spread)


def print_table(rows: Iterable[tuple[str, Results]]) -> None:
    """One line for each figure: the contestants side by side, the ratios, the goal."""
    table = Table(box=None, pad_edge=False)
    for title in ("", "figure"):
        table.add_column(title)
    for title in (
        "Outlast",
        "on PostgreSQL",
        "raw",
        "naive",
        "PostgreSQL/SQLite",
        "Outlast/raw",
        "Outlast/naive",
        "goal",
        "",
    ):
        table.add_column(title, justify="right")
    for name, results in rows:
        lines = max(results.values(), key=len, default=())
        for number, line in enumerate(lines):
            own = _nth(results.get("outlast", ()), number) or replace(line, value=math.nan)
            postgres, *others = (_nth(results.get(other, ()), number) for other in ("postgres", "raw", "naive"))
            goal = "" if own.goal is None else f"{'≥' if own.more_is_better else '≤'} {_short(own.goal)}"
            reached = {True: "reached", False: "missed", None: ""}[own.reached()]
            table.add_row(
                name if number == 0 else "",
                f"{own.name} ({own.unit})",
                _cell(own),
                *(_cell(other) if other else "–" for other in (postgres, *others)),
                "–" if postgres is None else _ratio(postgres, own),
                *(_ratio(own, other) for other in others),
                goal,
                reached,
            )
    Console(width=None if Console().is_terminal else 180).print(table)


def _cell(figure: Figure) -> str:
    if figure.spread is None or figure.spread[0] == figure.spread[1]:
        return _short(figure.value)
    return f"{_short(figure.value)} [{_short(figure.spread[0])} – {_short(figure.spread[1])}]"


def _nth(figures: Sequence[Figure], number: int) -> Figure | None:
    return figures[number] if number < len(figures) else None


def _ratio(own: Figure, other: Figure | None) -> str:
    if other is None or not other.value or math.isnan(other.value) or math.isnan(own.value):
        return "–"
    return f"{own.value / other.value:.2f}"


def _short(value: float) -> str:
    if math.isnan(value):
        return "–"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 or value == int(value) else f"{value:.2f}"

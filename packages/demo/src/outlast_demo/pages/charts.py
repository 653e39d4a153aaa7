"""Charts of the tracker's counts: bars in plain HTML, readable without colour."""

from collections.abc import Mapping
from html import escape
from typing import Any, Final

from outlast_demo.pages.html import LABEL
from outlast_demo.pages.wishes import PROJECTS, title_of, to_text

SUMMARY: Final = "summary"
_SIDE_BY_SIDE: Final = "grid-template-columns:repeat(auto-fit,minmax(min(100%,11rem),1fr))"
_NAMES: Final = (("status", "By status"), ("priority", "By priority"), ("project", "By project"))


def summary(query: Mapping[str, str], counts: Mapping[str, Any], *, hideable: bool) -> str:
    """A section with one chart for each counted property."""
    total = counts["status"]["total"]
    button = '<button class="ghost" data-action="hide-summary">Hide</button>' if hideable else ""
    charts = "".join(f'<div class="card"><h3>{name}</h3>{_bars(by, counts[by]["groups"])}</div>' for by, name in _NAMES)
    return (
        f'<section id="{SUMMARY}"><div class="toolbar"><h2>{escape(title_of(query))} in figures: '
        f'<span id="summary-total">{total}</span></h2>{button}</div>'
        f'<div class="grid" style="{_SIDE_BY_SIDE}">{charts}</div></section>'
    )


def page(query: Mapping[str, str], counts: Mapping[str, Any]) -> str:
    """A whole page with only the charts."""
    asked = escape(to_text(query))
    return (
        f'<div id="report" data-query="{asked}"><header class="toolbar">'
        '<h1>The tracker at a glance</h1><div class="row">'
        f'<button class="primary" data-action="show" data-query="{asked}">Show list</button>'
        '<button data-action="summary">Refresh</button></div></header>'
        f'{summary(query, counts, hideable=False)}<p class="muted small">{LABEL}</p></div>'
    )


def _bars(by: str, groups: list[dict[str, Any]]) -> str:
    most = max((int(group["count"]) for group in groups), default=0) or 1
    lines = []
    for group in groups:
        value, count = str(group["value"]), int(group["count"])
        name = PROJECTS.get(value, value.replace("_", " "))
        lines.append(
            f'<div class="row spread"><span>{escape(name)}</span>'
            f'<strong id="{by}-{escape(value)}">{count}</strong></div>'
            f'<div class="bar" role="img" aria-label="{escape(name)}: {count}">'
            f'<span style="width:{round(100 * count / most)}%"></span></div>'
        )
    return f'<div class="stack" style="gap:0.45rem">{"".join(lines)}</div>'

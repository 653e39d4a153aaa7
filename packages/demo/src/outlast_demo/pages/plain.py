"""Pages that need no tool: a counter, a list of things, and a page that says what the demo can do."""

import re
from collections.abc import Sequence
from html import escape
from typing import Any, Final

from outlast_demo.lines import Line
from outlast_demo.pages import lines
from outlast_demo.pages.scene import Acted, PageScene
from outlast_demo.pages.wishes import Kind

COUNT: Final = frozenset({"increment", "decrement", "reset"})
THINGS: Final = frozenset({"add-item", "toggle-item", "remove-item"})
LABEL: Final = "Made by the demo model: its words and layouts were written beforehand. It used no tool for this page."
_LABELLED: Final = f'<p class="muted small" id="demo-label">{LABEL}</p>'
CAN_DO: Final = (
    (
        "show my open issues",
        "looks the issues tracker up in its documentation, asks it by code, and shows what it said",
    ),
    ("a chart of all open issues", "counts them and draws bars"),
    ("save that as a module", "writes the code to lib/issues.ts, which later requests import"),
    ("show the issues of Harbor", "another list, by the saved module where there is one"),
    ("a counter", "a page that needs no tool"),
    ("a to-do list", "another one"),
)


def build(kind: Kind, scene: PageScene) -> list[Line]:
    """A page out of the request alone."""
    if kind is Kind.COUNTER:
        return [
            lines.full(_counter(), "Counter"),
            lines.summary(scene.said or "a counter", "built a counter with three buttons"),
        ]
    return [
        lines.full(_things(), "To-do list"),
        lines.summary(scene.said or "a to-do list", "built a list with a field for new entries"),
    ]


def introduce(scene: PageScene, why: str = "") -> list[Line]:
    """Says plainly what the demo can do; an empty page gets a page that says so, another one stays."""
    said = why or (
        "I am the demo model: my words and layouts are recorded, and nothing recorded fits this request. "
        "The tools that I call and what they give are real. With a model of your own, anything can be asked."
    )
    told = "Try: " + "; ".join(f"“{words}”" for words, _ in CAN_DO) + "."
    found: list[Line] = [lines.prose(said), lines.prose(told)]
    if not is_empty(scene):
        return [*found, lines.summary(scene.said or "something unknown", "left the page as it was")]
    entries = "".join(
        f"<li><div><strong>{escape(words)}</strong><div class='muted'>{escape(does)}</div></div></li>"
        for words, does in CAN_DO
    )
    html = (
        f'<div id="introduction"><h1>{escape(_heading(scene.said))}</h1><p class="notice">{escape(said)}</p>'
        f'<section class="card"><h2>What you can ask the demo for</h2>'
        f'<ul class="list">{entries}</ul></section>{_LABELLED}</div>'
    )
    return [*found, lines.full(html, "What the demo can do"), lines.summary(scene.said, "said what the demo can do")]


def is_empty(scene: PageScene) -> bool:
    return "<" not in scene.html


def is_plain(acted: Acted) -> bool:
    """Whether an action belongs to a page that needs no tool."""
    return acted.name in COUNT or acted.name in THINGS


def act(scene: PageScene, actions: Sequence[Acted]) -> list[Line]:
    """Patches for clicks on these pages; numbers and entries are read from the page itself."""
    counts = [acted for acted in actions if acted.name in COUNT]
    found = _counted(scene, counts) if counts and scene.has("count") else []
    for number, acted in enumerate(one for one in actions if one.name in THINGS):
        found += _changed_things(scene, acted, number)
    names = ", ".join(dict.fromkeys(acted.name for acted in actions))
    return [*lines.patches(found), lines.summary(names, "changed the page")]


def _counted(scene: PageScene, actions: Sequence[Acted]) -> list[dict[str, Any]]:
    text = scene.text_of("count")
    count = int(text) if re.fullmatch(r"-?\d{1,15}", text) else 0
    for acted in actions:
        count = 0 if acted.name == "reset" else count + (1 if acted.name == "increment" else -1)
    return [{"op": "text", "at": "#count", "text": str(count)}]


def _changed_things(scene: PageScene, acted: Acted, number: int) -> list[dict[str, Any]]:
    if acted.name == "add-item":
        text = acted.text("text")
        if not text or not scene.has("things"):
            return []
        taken = [int(one) for one in re.findall(r'id="thing-(\d+)"', scene.html)]
        patch = {"op": "append", "at": "#things", "html": _thing(max(taken, default=0) + 1 + number, text)}
        return [patch] + ([{"op": "remove", "at": "#no-things"}] if scene.has("no-things") and not number else [])
    item = acted.text("item")
    if not re.fullmatch(r"\d{1,9}", item) or not scene.has(f"thing-{item}"):
        return []
    if acted.name == "remove-item":
        return [{"op": "remove", "at": f"#thing-{item}"}]
    is_done = "done" in scene.attribute(f"thing-text-{item}", "class").split()
    return [
        {"op": "classes", "at": f"#thing-text-{item}", "remove" if is_done else "add": ["done"]},
        {"op": "text", "at": f"#thing-toggle-{item}", "text": "Done" if is_done else "Not done"},
    ]


def _counter() -> str:
    return (
        '<div id="counter"><h1>Counter</h1><section class="card"><div class="stat" id="count">0</div><p class="row">'
        '<button class="primary" data-action="increment">Add one</button>'
        '<button data-action="decrement">Take one away</button>'
        f'<button class="ghost" data-action="reset">Start again</button></p></section>{_LABELLED}</div>'
    )


def _things() -> str:
    first = "".join(
        _thing(number, text) for number, text in ((1, "Ask the demo for my open issues"), (2, "Close one of them"))
    )
    return (
        '<div id="to-do"><h1>To-do list</h1><form class="row card" id="new-thing" data-action="add-item">'
        '<input name="text" aria-label="New entry" placeholder="What is to be done?" maxlength="200" required>'
        f'<button type="submit">Add</button></form><section class="card">'
        f'<ul class="list" id="things">{first}</ul></section>'
        f"{_LABELLED}</div>"
    )


def _thing(number: int, text: str) -> str:
    return (
        f'<li id="thing-{number}"><span id="thing-text-{number}">{escape(text)}</span><span class="spacer"></span>'
        f'<button id="thing-toggle-{number}" data-action="toggle-item" data-item="{number}">Done</button>'
        f'<button class="ghost" data-action="remove-item" data-item="{number}">Remove</button></li>'
    )


def _heading(said: str) -> str:
    words = " ".join(said.split())[:80]
    return f"“{words}”" if words else "The demo model"

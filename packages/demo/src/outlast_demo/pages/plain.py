"""Pages that need no tool: a counter, a to-do list, and a page with examples for the demo."""

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
LABEL: Final = "Made by the demo model. The words and the layout are recorded. It called no tools for this page."
_LABELLED: Final = f'<p class="muted small" id="demo-label">{LABEL}</p>'
CAN_DO: Final = (
    ("show my open issues", "searches the tracker's documentation, calls its API from code, and lists the issues"),
    ("a chart of all open issues", "counts issues and draws a bar chart"),
    ("save that as a module", "writes the code to lib/issues.ts; later requests import it"),
    ("show the issues of Harbor", "lists the issues of one project, with the saved module if there is one"),
    ("a counter", "a page that needs no tool"),
    ("a to-do list", "another page that needs no tool"),
)


def build(kind: Kind, scene: PageScene) -> list[Line]:
    """A page from the request alone."""
    if kind is Kind.COUNTER:
        return [
            lines.full(_counter(), "Counter"),
            lines.summary(scene.said or "a counter", "created a counter with three buttons"),
        ]
    return [
        lines.full(_things(), "To-do list"),
        lines.summary(scene.said or "a to-do list", "created a list with a field for new entries"),
    ]


def introduce(scene: PageScene, why: str = "") -> list[Line]:
    """Lists examples for the demo: in the thread, and on the page if it is empty. Other pages are left unchanged."""
    reason = why or (
        "I am the demo model: my words and layouts are recorded, and no recording matches this request. "
        "My tool calls and their results are real. To make any page you like, connect a model."
    )
    examples = "Try: " + "; ".join(f"“{words}”" for words, _ in CAN_DO) + "."
    found: list[Line] = [lines.prose(reason), lines.prose(examples)]
    if not is_empty(scene):
        return [*found, lines.summary(scene.said or "an unknown request", "left the page unchanged")]
    entries = "".join(
        f"<li><div><strong>{escape(words)}</strong><div class='muted'>{escape(does)}</div></div></li>"
        for words, does in CAN_DO
    )
    html = (
        f'<div id="introduction"><h1>{escape(_heading(scene.said))}</h1><p class="notice">{escape(reason)}</p>'
        f'<section class="card"><h2>Try one of these</h2>'
        f'<ul class="list">{entries}</ul></section>{_LABELLED}</div>'
    )
    return [
        *found,
        lines.full(html, "Examples for the demo"),
        lines.summary(scene.said, "showed examples for the demo"),
    ]


def is_empty(scene: PageScene) -> bool:
    return "<" not in scene.html


def is_plain(acted: Acted) -> bool:
    """True if an action belongs to a page that needs no tool."""
    return acted.name in COUNT or acted.name in THINGS


def act(scene: PageScene, actions: Sequence[Acted]) -> list[Line]:
    """Patches for clicks on these pages; counts and entries are read from the page itself."""
    counts = [acted for acted in actions if acted.name in COUNT]
    found = _count(scene, counts) if counts and scene.has("count") else []
    for number, acted in enumerate(action for action in actions if action.name in THINGS):
        found += _change_thing(scene, acted, number)
    names = ", ".join(dict.fromkeys(acted.name for acted in actions))
    return [*lines.patches(found), lines.summary(names, "changed the page")]


def _count(scene: PageScene, actions: Sequence[Acted]) -> list[dict[str, Any]]:
    text = scene.text_of("count")
    count = int(text) if re.fullmatch(r"-?\d{1,15}", text) else 0
    for acted in actions:
        count = 0 if acted.name == "reset" else count + (1 if acted.name == "increment" else -1)
    return [{"op": "text", "at": "#count", "text": str(count)}]


def _change_thing(scene: PageScene, acted: Acted, number: int) -> list[dict[str, Any]]:
    if acted.name == "add-item":
        text = acted.text("text")
        if not text or not scene.has("things"):
            return []
        taken = [int(digits) for digits in re.findall(r'id="thing-(\d+)"', scene.html)]
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
        '<button data-action="decrement">Subtract one</button>'
        f'<button class="ghost" data-action="reset">Reset</button></p></section>{_LABELLED}</div>'
    )


def _things() -> str:
    first = "".join(
        _thing(number, text) for number, text in ((1, "Ask the demo for my open issues"), (2, "Close one issue"))
    )
    return (
        '<div id="to-do"><h1>To-do list</h1><form class="row card" id="new-thing" data-action="add-item">'
        '<input name="text" aria-label="New entry" placeholder="What needs to be done?" maxlength="200" required>'
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

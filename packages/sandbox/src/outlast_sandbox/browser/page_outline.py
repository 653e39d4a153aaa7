"""A page as text for a model, from the browser's accessibility tree: what people read, with numbers for the elements
that can be clicked or typed into. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

MAX_NODES: Final = 20_000
MAX_CHARS: Final = 200_000
NAME_CHARS: Final = 200
URL_CHARS: Final = 300
Node = Mapping[str, Any]

CONTROLS: Final = frozenset(
    {
        "button",
        "checkbox",
        "combobox",
        "link",
        "listbox",
        "menuitem",
        "menuitemcheckbox",
        "menuitemradio",
        "option",
        "radio",
        "searchbox",
        "slider",
        "spinbutton",
        "switch",
        "tab",
        "textbox",
        "treeitem",
        "Date",
        "DateTime",
        "InputTime",
    }
)
_WORDS: Final = {"Date": "date field", "DateTime": "date field", "InputTime": "time field"}
_BLOCKS: Final = frozenset(
    {
        "alert",
        "article",
        "blockquote",
        "cell",
        "code",
        "columnheader",
        "dialog",
        "form",
        "listitem",
        "main",
        "navigation",
        "paragraph",
        "region",
        "row",
        "rowheader",
        "term",
        "definition",
        "generic",
    }
)
_CLOSED: Final = CONTROLS - {"listbox", "combobox", "treeitem"}  # what lies in these is part of their name
_STATES: Final = ("checked", "disabled", "expanded", "focused", "pressed", "required", "selected")


class Numbers:
    """Numbers of a document's elements, by the browser's id of their nodes. A number stays that of its element."""

    def __init__(self) -> None:
        self._by_node: dict[int, int] = {}
        self._nodes: list[int] = []

    def of(self, node: int) -> int:
        """The number of a node, which it gets now if it has none."""
        if node not in self._by_node:
            self._nodes.append(node)
            self._by_node[node] = len(self._nodes)
        return self._by_node[node]

    def node(self, number: int) -> int | None:
        """The node of a number, or None if no element has it."""
        return self._nodes[number - 1] if 0 < number <= len(self._nodes) else None


def render_outline(trees: Sequence[Sequence[Node]], numbers: Numbers) -> str:
    """The text of a page's frames, each the nodes of its tree (`Accessibility.getFullAXTree`). Headings begin with #,
    list items with -, elements are `[3] link "Terms" (https://…)`. Of more than `MAX_NODES` nodes the rest is left out,
    as is text after `MAX_CHARS`. Call it in a thread."""
    lines = _Lines()
    for tree in trees:
        by_id = {node["nodeId"]: node for node in tree[:MAX_NODES]}
        for node in _walk(by_id):
            if lines.chars > MAX_CHARS:
                break
            in_popup = _role(by_id.get(node.get("parentId", ""), {})) == "MenuListPopup"
            _add(lines, node, None if in_popup else numbers)
        lines.end()
    return "\n".join(lines.lines)[:MAX_CHARS]


class _Lines:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.chars = 0
        self._words: list[str] = []

    def say(self, words: str) -> None:
        self._words.append(words)
        self.chars += len(words) + 1

    def end(self) -> None:
        line = " ".join(" ".join(self._words).split())
        if line.strip("-# "):
            self.lines.append(line)
        self._words.clear()


def _walk(by_id: Mapping[str, Node]) -> Iterator[Node]:
    """The nodes that people see, each before its children; what lies in a control is part of its name."""
    waiting = list(by_id.values())[:1]
    while waiting:
        node = waiting.pop()
        yield node
        if node.get("ignored") or _role(node) not in _CLOSED:
            waiting += [by_id[child] for child in reversed(node.get("childIds", ())) if child in by_id]


def _add(lines: _Lines, node: Node, numbers: Numbers | None) -> None:
    """`numbers` None: for the options of a closed list, which are chosen by their label."""
    role, name = _role(node), _text(node.get("name"))
    if node.get("ignored") or role == "InlineTextBox":
        return
    if _is_control(node, role):
        mark = "" if numbers is None else f"[{numbers.of(node['backendDOMNodeId'])}] "
        lines.say(f"{mark}{_control(node, role, name)}")
    elif role == "StaticText":
        lines.say(name)
    elif role == "heading":
        lines.end()
        lines.say("#" * int(_properties(node).get("level") or 1))
    elif role == "image" and name:
        lines.say(f'image "{name[:NAME_CHARS]}"')
    elif role == "Iframe":
        lines.end()
        lines.say("(frame)")
    elif role in _BLOCKS or role.endswith("list") or role == "LineBreak":
        lines.end()
        if role == "listitem":
            lines.say("-")


def _is_control(node: Node, role: str) -> bool:
    """Also a part without a role of its own that the keyboard reaches."""
    reached = role in ("generic", "listitem", "row", "cell", "image") and _properties(node).get("focusable")
    return "backendDOMNodeId" in node and (role in CONTROLS or bool(reached))


def _control(node: Node, role: str, name: str) -> str:
    facts = _properties(node)
    words = [_WORDS.get(role, role), f'"{" ".join(name.split())[:NAME_CHARS]}"']
    if value := _text(node.get("value")):
        words.append(f'= "{value[:NAME_CHARS]}"')
    marks = [state for state in _STATES if facts.get(state) not in (None, False, "false", "")]
    url = str(facts.get("url") or "")
    if url.startswith(("http://", "https://")):
        marks.append(url if len(url) <= URL_CHARS else f"{url[: URL_CHARS - 1]}…")
    return " ".join([*words, *([f"({', '.join(marks)})"] if marks else [])])


def _role(node: Node) -> str:
    return _text(node.get("role"))


def _text(value: Any) -> str:
    found = value.get("value") if isinstance(value, Mapping) else None
    return "" if found is None else str(found)


def _properties(node: Node) -> dict[str, Any]:
    return {one["name"]: one.get("value", {}).get("value") for one in node.get("properties", ())}

"""A page as text: what is shown of its accessibility tree, which elements have numbers, and how much of it."""

from __future__ import annotations

from typing import Any

from outlast_sandbox.browser.page_outline import MAX_CHARS, MAX_NODES, Node, Numbers, render_outline


def node(number: int, role: str, name: str = "", *children: int, parent: int = 0, **more: Any) -> Node:
    properties = [{"name": key, "value": {"value": value}} for key, value in more.pop("facts", {}).items()]
    return {
        "nodeId": str(number),
        "parentId": str(parent),
        "backendDOMNodeId": 100 + number,
        "ignored": False,
        "role": {"value": role},
        "name": {"value": name},
        "childIds": [str(one) for one in children],
        "properties": properties,
        **more,
    }


def outline(*nodes: Node, numbers: Numbers | None = None) -> list[str]:
    return render_outline([nodes], numbers or Numbers()).splitlines()


def test_headings_lists_and_paragraphs_are_lines_and_elements_have_their_number_name_and_state() -> None:
    told = outline(
        node(1, "RootWebArea", "Shop", 2, 4, 6, 9),
        node(2, "heading", "Bicycles", 3, facts={"level": 2}),
        node(3, "StaticText", "Bicycles"),
        node(4, "listitem", "", 5),
        node(5, "link", "Terms", 50, facts={"url": "https://shop.example/terms", "focusable": True}),
        node(50, "StaticText", "Terms"),
        node(6, "paragraph", "", 7, 8),
        node(7, "StaticText", "Two \n left"),
        node(8, "textbox", "Name", value={"value": "Ada"}, facts={"required": True, "disabled": False}),
        node(9, "generic", "", 10, ignored=True),
        node(10, "image", "A red bicycle"),
    )
    assert told == [
        "## Bicycles",
        '- [1] link "Terms" (https://shop.example/terms)',
        'Two left [2] textbox "Name" = "Ada" (required) image "A red bicycle"',
    ]


def test_options_of_a_closed_list_have_no_number_and_a_part_that_the_keyboard_reaches_has_one() -> None:
    told = outline(
        node(1, "RootWebArea", "", 2, 5),
        node(2, "combobox", "Colour", 3, value={"value": "Red"}),
        node(3, "MenuListPopup", "", 4),
        node(4, "option", "Red", parent=3, facts={"selected": True}),
        node(5, "generic", "Open the menu", facts={"focusable": True}),
    )
    assert told == ['[1] combobox "Colour" = "Red" option "Red" (selected) [2] generic "Open the menu"']


def test_an_element_keeps_its_number_when_the_page_is_read_again_and_unknown_numbers_have_no_node() -> None:
    numbers = Numbers()
    root, buy, ask = node(1, "RootWebArea", "", 2, 3), node(2, "button", "Buy"), node(3, "button", "Ask")
    assert outline({**root, "childIds": ["3"]}, ask, numbers=numbers) == ['[1] button "Ask"']
    assert outline(root, buy, ask, numbers=numbers) == ['[2] button "Buy" [1] button "Ask"']
    assert (numbers.node(1), numbers.node(2), numbers.node(3), numbers.node(0)) == (103, 102, None, None)


def test_a_huge_page_is_cut_by_nodes_and_by_characters_and_long_names_are_shortened() -> None:
    many = [node(1, "RootWebArea", "", *range(2, MAX_NODES + 50)), *(node(n, "LineBreak") for n in range(2, 30_000))]
    many[MAX_NODES + 5] = node(MAX_NODES + 6, "StaticText", "too far")
    assert outline(*many) == []
    long = [node(1, "RootWebArea", "", 2, 3, 4), node(2, "button", "b" * 1000), node(3, "StaticText", "x" * 300_000)]
    told = render_outline([[*long, node(4, "StaticText", "after")]], Numbers())
    assert told.startswith(f'[1] button "{"b" * 200}"')
    assert len(told) == MAX_CHARS


def test_a_page_without_nodes_is_empty() -> None:
    assert outline() == []

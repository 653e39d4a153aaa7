"""The syntax tree of a component's file, and the elements in it. The parser is loaded at its first use.

Bounds: `MAX_SOURCE_BYTES` of a file, 20 steps for each of its bytes (ordinary files take 2 to 7) and half a second of
processor time. A file of the maximum size takes 0.15 s: call it in a thread.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final

from outlast.base.records import dataclass
from outlast.base.syntax_trees import Budget, TooManySteps, parse_within

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

SOURCES: Final = (".tsx", ".jsx")  # endings of components' files
MAX_SOURCE_BYTES: Final = 500_000  # of one of them
_MAX_CPU_S: Final = 0.5  # of one parse
LINE_END: Final = re.compile("\r\n|[\n\r\u2028\u2029]")
ELEMENTS: Final = ("jsx_element", "jsx_self_closing_element")
_AROUND: Final = ("parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression")


@dataclass(frozen=True)
class Parsed:
    """A file and its tree. Read the text of nodes from the file: the tree was made from slightly different text."""

    source: bytes
    tree: "Tree"

    @cached_property
    def decoded(self) -> str:
        return self.source.decode()

    @cached_property
    def line_starts(self) -> Sequence[int]:
        """The offset in `decoded` at which each line begins."""
        return [0, *(end.end() for end in LINE_END.finditer(self.decoded))]

    def text(self, node: "Node") -> str:
        """The source text of the node."""
        return self.source[node.start_byte : node.end_byte].decode()


@dataclass(frozen=True, slots=True)
class Element:
    """A JSX element: `opening` has its attributes, `closing` is None if it is self-closing."""

    parsed: Parsed
    node: "Node"
    opening: "Node"
    closing: "Node | None"

    @property
    def name(self) -> str:
        """`div`, `Button`, `Tabs.List`; empty for a fragment."""
        named = self.opening.child_by_field_name("name")
        return "" if named is None else self.parsed.text(named)

    @property
    def start(self) -> int:
        return self.node.start_byte

    @property
    def attributes(self) -> dict[str, "Node"]:
        """By name; the last of repeated ones, which is the one that counts."""
        found = [child for child in self.opening.named_children if child.type == "jsx_attribute"]
        return {self.parsed.text(one.named_children[0]): one for one in found if one.named_children}

    @property
    def spreads(self) -> list["Node"]:
        return [child for child in self.opening.named_children if child.type == "jsx_expression"]

    @property
    def children(self) -> list["Node"]:
        return [one for one in self.node.children if one not in (self.opening, self.closing)]

    @property
    def after_name(self) -> int:
        """The offset where another attribute may be inserted."""
        arguments = self.opening.child_by_field_name("type_arguments")
        named = arguments or self.opening.child_by_field_name("name")
        assert named is not None  # fragments are refused before
        return named.end_byte


def parse(source: bytes) -> Parsed:
    """The tree; invalid TypeScript is in it as errors. The source must be UTF-8, at most `MAX_SOURCE_BYTES`. Raises
    TooManySteps for a larger one, and for one that takes too many steps: some hundreds of random words can
    send the parser back and forth for minutes.

    A bare & in JSX text and attributes is an error to this grammar, but not to compilers, and classes such as
    `[&_p]:mt-4` are full of them. So the tree is made with | in its place: equivalent in code, plain in text."""
    if len(source) > MAX_SOURCE_BYTES:
        raise TooManySteps
    budget = Budget(20 * len(source) + 20_000)
    return Parsed(source, parse_within(_language(), source.replace(b"&", b"|"), budget, _MAX_CPU_S))


def faults(parsed: Parsed) -> int:
    """The number of places in the file that are errors to the grammar."""
    return sum(1 for node in _walk(parsed.tree.root_node) if node.is_error or node.is_missing)


def element_at(parsed: Parsed, byte: int) -> Element | None:
    """The element that begins at this byte, or None if none begins exactly there, or its opening is broken."""
    node = parsed.tree.root_node.descendant_for_byte_range(byte, byte + 1)
    while node is not None and node.start_byte == byte and node.type not in ELEMENTS:
        node = node.parent
    if node is None or node.start_byte != byte:
        return None
    if node.type == "jsx_self_closing_element":
        found = Element(parsed, node, node, None)
    else:
        opening, closing = node.children[0], node.children[-1]
        if opening.type != "jsx_opening_element" or closing.type != "jsx_closing_element":
            return None
        found = Element(parsed, node, opening, closing)
    return None if found.opening.has_error or not found.name else found


def value_of(attribute: "Node") -> "Node | None":
    """The value of an attribute without braces, parentheses and type assertions, or None if it has no value."""
    if len(attribute.named_children) < 2:
        return None
    return unwrapped(attribute.named_children[-1])


def unwrapped(node: "Node") -> "Node":
    """The expression in braces, parentheses or type assertions."""
    while node.type == "jsx_expression" or node.type in _AROUND:
        inner = [child for child in node.named_children if child.type != "comment"]
        if not inner:
            return node
        node = inner[0]
    return node


def _walk(node: "Node") -> Iterator["Node"]:
    """Every node with an error in it, and its descendants."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        if node.has_error:
            waiting.extend(node.children)


@cache
def _language() -> "Language":
    import tree_sitter
    import tree_sitter_typescript

    return tree_sitter.Language(tree_sitter_typescript.language_tsx())

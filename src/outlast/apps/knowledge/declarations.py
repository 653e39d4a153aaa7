"""TypeScript's type declarations cut into passages: one for each declared thing, with its comment. Pure.

Bounds: 20 steps for each byte (declarations of packages take 2 to 3) and 5 s of processor time; modules nested at
most 50 deep. Beyond them a text is cut by its length. 1 MB takes half a second: call it in a thread.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Final

import tree_sitter_typescript
from tree_sitter import Language, Node

from outlast.apps.knowledge.passages import BETWEEN, Cut
from outlast.base.syntax_trees import Budget, TooManySteps, parse_within

_MAX_CPU_S: Final = 5.0
_DEEPEST: Final = 50
WHERE: Final = "Type declarations"
_DECLARES: Final = frozenset(
    {
        "class_declaration",
        "abstract_class_declaration",
        "interface_declaration",
        "type_alias_declaration",
        "enum_declaration",
        "function_declaration",
        "function_signature",
        "generator_function_declaration",
        "lexical_declaration",
        "variable_declaration",
    }
)
_AROUND: Final = frozenset({"export_statement", "ambient_declaration", "expression_statement"})
_SPACES: Final = frozenset({"internal_module", "module"})
_BODIES: Final = frozenset({"class_body", "interface_body", "object_type", "enum_body"})


@cache
def _language() -> Language:
    return Language(tree_sitter_typescript.language_typescript())


def cut_declarations(text: str, url: str, passage_chars: int) -> list[Cut]:
    """A passage for each class, interface, type, function and constant that a `.d.ts` file declares, including those in
    its modules and namespaces; overloads of a function together. One longer than `passage_chars` is cut between its
    members, and its first and last line are repeated. Imports and re-exports give none. A text beyond the bounds above
    is cut by its length alone."""
    source = text.encode("utf-8", "replace")
    try:
        root = parse_within(_language(), source, Budget(20 * len(source) + 20_000), _MAX_CPU_S).root_node
    except TooManySteps:
        starts = range(0, len(text), passage_chars)
        return [Cut(WHERE, _fenced(text[start : start + passage_chars]), url) for start in starts]
    found: list[Cut] = []
    for name, nodes, has_members in _merged(_declared(root, source, "")):
        heading = f"{WHERE}{BETWEEN}{name}"
        code = "\n".join(_text(node, source) for node in nodes)
        if len(code) <= passage_chars or not has_members:
            found.append(Cut(heading, _fenced(code), url))
        else:
            found += [Cut(heading, _fenced(piece), url) for piece in _pieces(nodes, source, passage_chars)]
    return found


_Declared = tuple[str, list[Node], bool]


def _declared(parent: Node, source: bytes, prefix: str, deep: int = 0) -> Iterator[_Declared]:
    """(name, comment and whole statement, True if it has members to cut at)."""
    comment: Node | None = None
    for child in parent.children:
        if child.type == "comment":
            comment = child
            continue
        core = _core(child)
        if core is not None and core.type in _SPACES:
            name = _name(core, source)
            body = core.child_by_field_name("body")
            # A module named by a string is the package or one of its paths, not a prefix of names.
            inner = prefix if name.startswith(("'", '"')) or name == "global" else f"{prefix}{name}."
            if body is not None and deep < _DEEPEST:
                yield from _declared(body, source, inner, deep + 1)
        elif core is not None and core.type in _DECLARES:
            nodes = [child]
            if comment is not None and _text(comment, source).startswith("/**"):
                nodes = [comment, child]
            yield prefix + _name(core, source), nodes, _body(core) is not None
        comment = None


def _merged(declared: Iterator[_Declared]) -> Iterator[_Declared]:
    """Join overloads into one."""
    for (name, has_members), group in groupby(declared, key=itemgetter(0, 2)):
        if has_members:
            yield from group
        else:
            yield name, [node for _, nodes, _ in group for node in nodes], False


def _core(node: Node) -> Node | None:
    """The declaration itself, without `export`, `declare` and `default`."""
    while node.type in _AROUND:
        inner = next((one for one in node.named_children if one.type in _DECLARES | _SPACES | _AROUND), None)
        if inner is None:
            return None
        node = inner
    return node


def _name(core: Node, source: bytes) -> str:
    named = core.child_by_field_name("name")
    if named is None:
        first = next((one for one in core.named_children if one.type == "variable_declarator"), None)
        named = first.child_by_field_name("name") if first is not None else None
    return _text(named, source) if named is not None else "default"


def _body(core: Node) -> Node | None:
    if core.type == "type_alias_declaration":
        value = core.child_by_field_name("value")
        return value if value is not None and value.type in _BODIES else None
    return next((one for one in core.children if one.type in _BODIES), None)


def _pieces(nodes: Sequence[Node], source: bytes, most: int) -> Iterator[str]:
    statement = nodes[-1]
    core = _core(statement)
    body = _body(core) if core is not None else None
    if body is None:
        return
    head = source[nodes[0].start_byte : body.start_byte].decode("utf-8", "replace").rstrip() + " {"
    short = source[statement.start_byte : body.start_byte].decode("utf-8", "replace").rstrip() + " {"
    some: list[str] = []
    size = 0
    for member in _members(body, source):
        if some and size + len(member) > most - len(head):
            yield "\n".join((head, *some, "}"))
            some, size, head = [], 0, short
        some.append(member)
        size += len(member) + 1
    yield "\n".join((head, *some, "}"))


def _members(body: Node, source: bytes) -> Iterator[str]:
    """Each member with its comment and its `;`, indented."""
    start: int | None = None
    for child, following in pairwise(body.children[1:]):
        if child.type in (";", ","):
            continue
        start = child.start_byte if start is None else start
        if child.type == "comment":
            continue
        end = following.end_byte if following.type in (";", ",") else child.end_byte
        yield "    " + source[start:end].decode("utf-8", "replace")
        start = None


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _fenced(code: str) -> str:
    return f"```ts\n{code}\n```"

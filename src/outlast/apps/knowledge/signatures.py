"""Python's stubs and sources cut into passages: one for each public class and function, with its signatures and
docstrings. Pure."""

import ast
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from outlast.apps.knowledge.passages import BETWEEN, Cut

WHERE: Final = "Signatures"
SAID_CHARS: Final = 4_000  # of one docstring
_TELLING: Final = re.compile(r"property|classmethod|staticmethod|(?:typing\.)?overload|.*\.setter", re.DOTALL)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def cut_signatures(text: str, url: str, module: str, passage_chars: int) -> list[Cut]:
    """A passage for each public class (with its public methods) and function of a `.py` or `.pyi` file; names that
    begin with an underscore are left out. A class longer than `passage_chars` is cut between its methods, and its first
    line is repeated. A file that Python cannot parse gives none."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[Cut] = []
    said = ast.get_docstring(tree)
    if said:
        found.append(Cut(f"{WHERE}{BETWEEN}{module}", said[:SAID_CHARS], url))
    for name, pieces in _merged(_public(tree, passage_chars)):
        heading = f"{WHERE}{BETWEEN}{module}.{name}"
        found += [Cut(heading, f"```python\n{piece}\n```", url) for piece in pieces]
    return found


def module_of(path: str) -> str:
    """The dotted import name of a file."""
    parts = path.removesuffix(".pyi").removesuffix(".py").split("/")
    parts[0] = parts[0].removesuffix("-stubs")
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def _public(tree: ast.Module, most: int) -> Iterator[tuple[str, list[str]]]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, _class_pieces(node, most)
        elif isinstance(node, _Function) and not node.name.startswith("_"):
            yield node.name, [_signature(node, "")]


def _merged(found: Iterator[tuple[str, list[str]]]) -> Iterator[tuple[str, list[str]]]:
    """Join overloads into one."""
    for (name, is_single), group in groupby(found, key=lambda one: (one[0], len(one[1]) == 1)):
        pieces = [piece for _, some in group for piece in some]
        yield name, ["\n".join(pieces)] if is_single else pieces


def _class_pieces(node: ast.ClassDef, most: int) -> list[str]:
    around = [ast.unparse(one) for one in (*node.bases, *node.keywords)]
    head = f"class {node.name}({', '.join(around)}):" if around else f"class {node.name}:"
    first = [head, *_said(node, "    ")]
    pieces, some, size = [], first, sum(map(len, first))
    for member in node.body:
        shown = _member(member)
        if not shown:
            continue
        if len(some) > 1 and size + len(shown) > most:
            pieces.append("\n".join(some))
            some, size = [head], len(head)
        some.append(shown)
        size += len(shown)
    return [*pieces, "\n".join(some)]


def _member(node: ast.stmt) -> str:
    if isinstance(node, _Function):
        return _signature(node, "    ") if node.name == "__init__" or not node.name.startswith("_") else ""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return "" if node.target.id.startswith("_") else f"    {ast.unparse(node)}"
    return ""


def _signature(node: _Function, indent: str) -> str:
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    result = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    decorators = [f"{indent}@{name}" for name in map(ast.unparse, node.decorator_list) if _TELLING.fullmatch(name)]
    said = _said(node, indent + "    ")
    line = f"{indent}{kind} {node.name}({ast.unparse(node.args)}){result}:{'' if said else ' ...'}"
    return "\n".join([*decorators, line, *said])


def _said(node: _Function | ast.ClassDef, indent: str) -> list[str]:
    said = ast.get_docstring(node)
    if not said:
        return []
    lines = said[:SAID_CHARS].split("\n")
    quoted = [f'{indent}"""{lines[0]}', *(f"{indent}{line}".rstrip() for line in lines[1:])]
    return [*quoted[:-1], f'{quoted[-1]}"""']

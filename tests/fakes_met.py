"""Which fakes a test meets: read from its code, through helpers and fixtures, without running it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
Symbol = tuple[str, str]  # a module, and a name in it


@dataclass
class Module:
    """What a module of the tests defines and imports."""

    defined: dict[str, list[ast.AST]] = field(default_factory=dict)
    imported: dict[str, Symbol] = field(default_factory=dict)
    always: list[str] = field(default_factory=list)  # fixtures that each test has without naming them


@cache
def reached(path: Path, test: str) -> frozenset[Symbol]:
    """Everything that a test uses, also through helpers, fixtures and base classes: (module, name). Bounded by the
    definitions of the tests' modules."""
    module = ".".join(path.with_suffix("").parts)
    fixtures = {name for each in (module, *_conftests(module)) for name in _module(each).always}
    found: set[Symbol] = set()
    waiting: list[Symbol] = [(module, test), *((module, name) for name in fixtures)]
    while waiting:
        symbol = waiting.pop()
        if symbol not in found:
            found.add(symbol)
            waiting += _used_by(symbol, module)
    return frozenset(found)


def _used_by(symbol: Symbol, test_module: str) -> Iterator[Symbol]:
    """What a name stands for, and what its definition uses. A fixture is looked for where pytest does."""
    module, _ = symbol
    imported, used, asked = _uses(symbol)
    if imported is not None:
        yield imported
    for name in used:
        yield module, name
    for name in asked:
        yield from ((home, name) for home in (test_module, *_conftests(test_module)))


@cache
def _uses(symbol: Symbol) -> tuple[Symbol | None, frozenset[str], frozenset[str]]:
    """Where a name comes from; the names that its definition reads; the fixtures that it asks for."""
    module, name = symbol
    if not module.startswith("tests."):
        return None, frozenset(), frozenset()
    known = _module(module)
    nodes = known.defined.get(name, ())
    used = frozenset(one for node in nodes for one in _names(node))
    return known.imported.get(name), used, frozenset(one for node in nodes for one in _fixtures_asked(node))


def _names(node: ast.AST) -> set[str]:
    """Names that a definition reads and does not give a value itself."""
    names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
    arguments = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
    own = arguments | {one.id for one in names if isinstance(one.ctx, ast.Store)}
    return {one.id for one in names} - own


def _fixtures_asked(node: ast.AST) -> set[str]:
    """Parameters of a test or fixture, and the names of fixtures that others ask for as texts."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        marks = [one for one in node.decorator_list if re.search(r"fixture\(|usefixtures\(", ast.unparse(one))]
        return _texts(*marks) | {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
    value = getattr(node, "value", None)
    return _texts(value) if isinstance(value, ast.Tuple | ast.List) else set()


def _texts(*nodes: ast.AST) -> set[str]:
    inside = [one for node in nodes for one in ast.walk(node)]
    return {one.value for one in inside if isinstance(one, ast.Constant) and isinstance(one.value, str)}


@cache
def _conftests(module: str) -> list[str]:
    parts = module.split(".")[:-1]
    return [".".join((*parts[:depth], "conftest")) for depth in range(len(parts), 0, -1)]


@cache
def _module(name: str) -> Module:
    path = ROOT.joinpath(*name.split(".")).with_suffix(".py")
    found = Module()
    for node in ast.parse(path.read_text()).body if path.is_file() else ():
        _take(found, node)
    return found


def _take(found: Module, node: ast.stmt) -> None:
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        found.imported |= {one.asname or one.name: (node.module, one.name) for one in node.names}
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        found.defined.setdefault(node.name, []).append(node)
        if any("autouse=True" in ast.unparse(one) for one in node.decorator_list):
            found.always.append(node.name)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for name in {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}:
            found.defined.setdefault(name, []).append(node)
            if name == "pytestmark":
                found.always.append(name)

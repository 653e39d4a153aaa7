"""The guards of imports guard something: their patterns match modules, and what says that it is pure is."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src"
FORBIDDEN = ("outlast.db", "sqlalchemy", "asyncio", "anyio", "aiohttp", "time", "socket", "random", "os", "subprocess")
CONTRACTS: list[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
    "contracts"
]


def modules(folder: Path, root: Path) -> dict[str, Path]:
    found = {}
    for path in folder.rglob("*.py"):
        name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        found[name] = path
    return found


OURS = {
    name: path
    for folder in (SOURCES, *sorted((ROOT / "packages").glob("*/src")))
    for name, path in modules(folder, folder).items()
}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_or_is_in(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize("contract", CONTRACTS, ids=[contract["id"] for contract in CONTRACTS])
def test_each_pattern_of_an_import_contract_matches_a_module(contract: dict[str, Any]) -> None:
    """A contract named modules that had moved, and was kept by everything."""
    named = [
        f"{container}.{layer.strip(' ()')}"
        for container in contract.get("containers", [])
        for layers in contract["layers"]
        for layer in re.split("[|:]", layers)
    ]
    named += contract.get("source_modules", []) + contract.get("modules", [])
    patterns = [pattern.replace(".**.", ".*.") for pattern in named]
    assert patterns
    assert [one for one in patterns if not any(fnmatchcase(name, one) for name in OURS)] == []


def test_a_module_that_says_that_it_is_pure_imports_no_database_clock_network_or_async() -> None:
    pure = {
        name: path
        for name, path in OURS.items()
        if re.search(r"\bPure\b", ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")
    }
    assert len(pure) > 90
    found = [
        f"{name} imports {one}"
        for name, path in pure.items()
        for one in imported(path)
        if any(is_or_is_in(one, forbidden) for forbidden in FORBIDDEN)
    ]
    assert found == []


def test_the_program_imports_nothing_of_its_tests_benches_and_scripts() -> None:
    beside = ("tests", "bench", "scripts")
    found = [
        f"{name} imports {one}" for name, path in OURS.items() for one in imported(path) if one.split(".")[0] in beside
    ]
    assert found == []


def test_benches_and_scripts_do_not_stand_on_tests() -> None:
    found = [
        f"{name} imports {one}"
        for folder in ("bench", "scripts")
        for name, path in modules(ROOT / folder, ROOT).items()
        for one in imported(path)
        if is_or_is_in(one, "tests")
    ]
    assert found == []

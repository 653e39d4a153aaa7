"""What tests/SEEDS.md claims: each row names tests that exist, and that meet what the row is about.

A row about sandboxes is shown by real ones, a row about somebody's service by that service. Where there is no such test
the row says so. What a row is about is told by its words; a screen's credits may be counted over a sandbox in memory.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.fakes_met import Symbol, reached

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "tests" / "SEEDS.md").read_text()
ROWS = [line for line in TEXT.splitlines() if line.startswith("| ") and not line.startswith(("| seed", "|--"))]
NAMED = r"`((?:tests|web/tests)/[\w./-]+)::([^`]+)`"

SANDBOX = ("outlast_sandbox.providers.memory", "tests.photographer", "tests.browser.memory_sandboxes")
REAL_SANDBOXES = {"LocalProvider", "open_docker", "open_e2b"}
ABOUT_SANDBOXES = re.compile(
    r"sandbox|terminal|process\b|freez|frozen|paus|volume|snapshot|dev server|container|compile|tsc|\(types"
    r"|`run_code|theme",
    re.IGNORECASE,
)
ABOUT_SERVICES = re.compile(r"\b(?:Deno|E2B)\b")
SHORT_CREDITS = "tests/browser/test_screen_credits.py::test_what_is_short_is_explained_before_and_after_sending"
SERVICES = ("tests.sandbox.deno_service", "tests.sandbox.e2b_service")
# Machines that only write down what they were asked for.
MACHINES = {("tests.flow.seed003.test_waiting", "Machines"), ("tests.flow.preview.rig", "Machines")}
# What a row has to say that cites such a test all the same.
IN_MEMORY = "sandbox in memory"
NO_SERVICE = "not run against the service"


@cache
def defined_tests(path: Path) -> frozenset[str]:
    """Names of the tests in a file, Python or TypeScript."""
    if path.suffix == ".py":
        nodes = ast.walk(ast.parse(path.read_text()))
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        return frozenset(node.name for node in nodes if isinstance(node, functions) and node.name.startswith("test_"))
    return frozenset(re.findall(r"(?:\b(?:test|it)|\]\))\(\s*['\"`](.+?)['\"`],", path.read_text()))


def fakes_in(row: str) -> list[str]:
    """The tests of a row that meet a fake where the row does not say so."""
    return [
        f"{path}::{test} meets {fake}"
        for path, test in re.findall(NAMED, row)
        if path.endswith(".py")
        for fake in _fakes_of(reached(Path(path), test), row)
    ]


def _fakes_of(symbols: frozenset[Symbol], row: str) -> list[str]:
    names = {name for _, name in symbols}
    claim = re.sub(NAMED, "", row)
    found = []
    if ABOUT_SANDBOXES.search(claim) and IN_MEMORY not in claim and not names & REAL_SANDBOXES:
        played = {(module, name) for module, name in symbols if module in SANDBOX or (module, name) in MACHINES}
        played |= {symbol for symbol in symbols if ".".join(symbol) in SANDBOX}
        found += sorted({name for _, name in played} - {"png", "look"})
    if ABOUT_SERVICES.search(claim) and NO_SERVICE not in claim:
        found += sorted({module for module, _ in symbols if module in SERVICES})
    return found


def test_every_test_named_for_the_seeds_exists() -> None:
    named = re.findall(NAMED, TEXT)
    assert len(named) > 60
    missing = [f"{path}::{test}" for path, test in named if not (ROOT / path).is_file()]
    missing += [
        f"{path}::{test}" for path, test in named if (ROOT / path).is_file() and test not in defined_tests(ROOT / path)
    ]
    assert missing == []


def test_every_row_for_the_seeds_names_a_test() -> None:
    assert len(ROWS) > 50
    assert [row for row in ROWS if "::" not in row and "not built" not in row] == []


def test_no_row_cites_a_test_over_a_fake_without_saying_so() -> None:
    """Fifty rows were shown by sandboxes that are a dictionary and a compiler that is a pattern."""
    assert [one for row in ROWS for one in fakes_in(row)] == []


@pytest.mark.parametrize(
    ("row", "fake"),
    [
        ("tests/flow/screens/test_building.py::test_a_page_that_throws_is_told_what_it_throws", "MemoryProvider"),
        ("tests/sandbox/test_manager.py::test_a_frozen_sandbox_is_woken_by_its_next_use", "MemoryProvider"),
        ("tests/flow/seed003/test_waiting.py::test_a_paused_run_goes_on_with_the_decision", "Machines"),
        (SHORT_CREDITS, "memory_sandboxes"),
        ("tests/sandbox/test_hosted_files.py::test_an_unchanged_workspace_makes_no_new_checkpoint", "deno_service"),
    ],
)  # fmt: skip
def test_a_row_over_a_fake_is_refused_unless_it_says_so(row: str, fake: str) -> None:
    assert any(fake in found for found in fakes_in(f"| a sandbox of Deno | | `{row}` |"))
    assert fakes_in(f"| a sandbox of Deno | {NO_SERVICE}; {IN_MEMORY} | `{row}` |") == []


@pytest.mark.parametrize(
    "row",
    [
        "tests/sandbox/test_lives.py::test_a_stopped_one_starts_again_over_its_files",
        "tests/sandbox/test_behaviour.py::test_many_commands_run_at_once",
        (
            "tests/flow/sandboxes/test_lost.py"
            "::test_a_run_whose_sandbox_dies_under_a_command_goes_on_in_a_new_one_with_its_files"
        ),
    ],
)
def test_a_row_over_the_real_part_passes(row: str) -> None:
    assert fakes_in(f"| a sandbox | | `{row}` |") == []

"""The figures of the code base count what they say, and what they allow only shrinks."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts import house

GRAPHS = st.dictionaries(st.integers(0, 7), st.sets(st.integers(0, 7), max_size=4), max_size=8)


def reached(edges: dict[str, set[str]], start: str) -> set[str]:
    found, left = set(), [start]
    while left:
        node = left.pop()
        if node not in found:
            found.add(node)
            left += edges.get(node, ())
    return found


@given(GRAPHS)
def test_modules_are_in_one_circle_when_each_leads_to_the_other(graph: dict[int, set[int]]) -> None:
    edges = {str(node): {str(target) for target in targets} for node, targets in graph.items()}
    groups = house.strongly_connected(edges)
    assert sorted(node for group in groups for node in group) == sorted(edges.keys() | set().union(*edges.values()))
    for group in groups:
        for node in group:
            together = {other for other in reached(edges, node) if node in reached(edges, other)} | {node}
            assert set(group) == together


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty source tree that is measured instead of ours."""
    sources = tmp_path / "src" / "outlast"
    sources.mkdir(parents=True)
    monkeypatch.setattr(house, "ROOT", tmp_path)
    monkeypatch.setattr(house, "SOURCES", sources)
    monkeypatch.setattr(house, "LIMITS", tmp_path / "house.json")
    return sources


def test_a_run_of_equal_lines_is_one_duplicate_however_long(tree: Path) -> None:
    same = [f"step_{number}()" for number in range(9)]
    (tree / "one.py").write_text("\n".join(["first()", *same]))
    (tree / "other.py").write_text("\n".join(["import os", *same[:4], "", *same[4:], "last()"]))
    assert house.duplicates() == ["src/outlast/one.py:2 = src/outlast/other.py:2"]


def test_a_gerund_is_a_name_whose_last_word_ends_in_ing_and_is_no_noun(tree: Path) -> None:
    for name in ("asking", "tool_calling", "logging", "strings", "sending_queue"):
        (tree / f"{name}.py").touch()
    assert house.gerund_modules() == ["src/outlast/asking", "src/outlast/tool_calling"]


def test_a_breach_that_two_contracts_name_counts_once(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tree / "pyproject.toml"
    project.write_text(
        "[tool.importlinter]\n[[tool.importlinter.contracts]]\nignore_imports = ['a -> b', 'a.** -> c']\n"
        "[[tool.importlinter.contracts]]\nignore_imports = ['a -> b', 'b -> c']\n[[tool.importlinter.contracts]]\n"
    )
    monkeypatch.setattr(house, "PROJECT", project)
    assert house.import_breaches() == ["a -> b", "b -> c"]


def test_a_figure_that_grew_fails_and_limits_are_only_lowered(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = {"small": 3, "great": 9}

    def figure(name: str) -> house.Figure:
        return house.Figure(name, 0, name, lambda: ["x"] * counts[name])

    monkeypatch.setattr(house, "FIGURES", [figure(name) for name in counts])
    house.LIMITS.write_text(json.dumps({"small": 5, "great": 8}))
    assert house.main(Namespace(list=None, write=True)) == 1
    assert "great grew" in capsys.readouterr().err
    assert json.loads(house.LIMITS.read_text()) == {"small": 3, "great": 8}
    counts["great"] = 8
    assert house.main(Namespace(list=None, write=False)) == 0

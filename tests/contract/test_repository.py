"""Promises about the repository itself: what may stand in it, how long files get, and that docs name what exists."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "outlast"
MODULE_LINES = 600
README_LINES = 120
CODE = (".py", ".ts", ".tsx", ".css", ".sh")
FOLDERS = "src|packages|tests|docs|web|sdk|contract|bench|templates|scripts|examples"
ROOMS = "base|db|kernel|apps|surfaces|testing"


@cache
def files() -> tuple[Path, ...]:
    """Everything that is tracked or about to be, as paths below the root."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return tuple(Path(name) for name in sorted(set(listed.split("\0")) - {""}) if (ROOT / name).is_file())


def text(path: Path) -> str:
    """The file's text; empty for what is not text."""
    content = (ROOT / path).read_bytes()
    return "" if b"\0" in content[:8000] else content.decode("utf-8", "replace")


def documents() -> list[Path]:
    """The pages people read."""
    return [
        path for path in files() if path.suffix == ".md" and (len(path.parts) == 1 or path.parts[0] == "docs")
    ]


def test_no_tracked_file_names_a_folder_of_somebodys_machine() -> None:
    personal = re.compile(rf"(?<![\w./-])(/(?:work|farm)/[\w.]|{re.escape(str(ROOT))}\b)")
    found = [
        f"{path}:{number}: {line.strip()[:120]}"
        for path in files()
        for number, line in enumerate(text(path).splitlines(), 1)
        if personal.search(line)
    ]
    assert found == []


def test_lock_files_name_hashes_and_no_addresses() -> None:
    locks = [path for path in files() if path.name.endswith(".lock") or path.name == "package-lock.json"]
    assert {"requirements.lock", "requirements-dev.lock"} <= {path.name for path in locks}
    with_address = [
        str(path) for path in locks if re.search(r'"resolved": "|--(?:extra-)?index|@ \w+://', text(path))
    ]
    assert with_address == []
    for path in locks:
        if path.suffix == ".lock":
            pinned = re.findall(r"^[a-z0-9][^=\n]*==", text(path), re.MULTILINE)
            with_hash = re.findall(r"^[a-z0-9][^\n]*\\\n +--hash=sha256:", text(path), re.MULTILINE)
            assert len(pinned) == len(with_hash) > 0


def test_modules_stay_within_their_length() -> None:
    # A migration is a record of one change: never rewritten, so never split.
    code = [path for path in files() if path.suffix in CODE and "migrations" not in path.parts]
    lengths = {str(path): text(path).count("\n") for path in code}
    assert {path: lines for path, lines in lengths.items() if lines > MODULE_LINES} == {}


def test_the_readme_stays_within_its_length() -> None:
    assert text(Path("README.md")).count("\n") <= README_LINES


def test_decisions_are_numbered_without_gaps_and_say_their_number() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [page.name[:5] for page in pages] == [f"{number:04d}-" for number in range(1, len(pages) + 1)]
    for number, page in enumerate(pages, 1):
        content = page.read_text()
        assert content.startswith(f"# {number}. "), page.name
        assert "\nStatus: " in content, page.name


@pytest.mark.parametrize("path", documents(), ids=str)
def test_files_and_links_named_in_docs_exist(path: Path) -> None:
    content = text(path)
    prose = re.sub(r"^```.*?^```", "", content, flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\((?!\w+:|#)([^)#\s]+)[^)]*\)", prose)
    missing = [link for link in links if not (ROOT / path.parent / link).exists()]
    for name in re.findall(r"`([^`\s]+)`", prose):
        if re.fullmatch(rf"(?:{FOLDERS})/[\w./-]+", name):
            missing += [] if (ROOT / name).exists() else [name]
        elif re.fullmatch(rf"(?:{ROOMS})/[\w./-]+\.py", name):
            missing += [] if (PACKAGE / name).exists() else [name]
    assert missing == []


def test_make_targets_named_in_docs_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", text(Path("Makefile")), re.MULTILINE))
    named = {name for path in documents() for name in re.findall(r"`make ([a-z-]+)", text(path))}
    assert named - targets == set()


def test_configuration_shown_in_docs_is_readable() -> None:
    for path in documents():
        for block in re.findall(r"^```toml\n(.*?)^```", text(path), re.MULTILINE | re.DOTALL):
            tomllib.loads(block)


def test_every_file_of_rules_has_its_twin_test() -> None:
    rules = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("rules.py")]
    missing = [
        str(path) for path in rules if not (ROOT / "tests/unit" / path.with_name("test_rules.py")).exists()
    ]
    assert missing == []


def test_ci_runs_the_same_target_as_people() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text()


def _constants(tree: ast.Module) -> dict[str, str]:
    """The texts that a module gives a name to."""
    assigned = [
        (target, node.value)
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    return {
        target.id: value.value
        for target, value in assigned
        if isinstance(target, ast.Name) and isinstance(value.value, str)
    }


def _split(node: ast.AST) -> ast.expr | None:
    """What `node` splits at blanks or line ends, if that is what it does."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.args:
        return None
    return node.func.value if node.func.attr in ("split", "splitlines") else None


def _splitters(trees: dict[Path, ast.Module]) -> set[str]:
    """The functions that are nothing but a split of what they are given."""
    return {
        node.name
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and isinstance(node.body[-1], ast.Return) and len(node.body) <= 2
        for inner in ast.walk(node.body[-1])
        if isinstance(of := _split(inner), ast.Name) and of.id in {one.arg for one in node.args.args}
    }


def test_lists_of_names_are_lists_and_no_prose_that_is_split() -> None:
    # A wrapped text that is split cuts a name in two where a line breaks at a hyphen: "border- " "radius".
    code = [path for path in files() if path.suffix == ".py" and path.parts[0] in ("src", "scripts")]
    trees = {path: ast.parse(text(path)) for path in code}
    splitters = _splitters(trees)
    found = []
    for path, tree in trees.items():
        constants = _constants(tree)
        for node in ast.walk(tree):
            prose = _split(node)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in splitters:
                prose = node.args[0] if node.args else None
            if isinstance(prose, ast.Constant) or (isinstance(prose, ast.Name) and prose.id in constants):
                found.append(f"{path}:{prose.lineno}")
    assert found == []


_TEXTS_OF = (
    "apps/documents",
    "apps/pages",
    "kernel/locks",
    "kernel/mentions",
    "kernel/projects",
    "kernel/threads",
)


def _messages(tree: ast.Module, errors: set[str]) -> Iterator[ast.expr]:
    """What the errors that a module raises say to people: messages and hints."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in errors:
            yield from node.args
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "hint")


def test_errors_of_documents_pages_and_locks_say_no_ids_but_carry_them_in_fields() -> None:
    # People read these sentences in the app: "Somebody changed block blk_01m81s6j09dk23whgtmwxcrnrk".
    errors = {
        node.name
        for node in ast.parse(text(PACKAGE / "base/errors.py")).body
        if isinstance(node, ast.ClassDef)
    }
    modules = [path for room in _TEXTS_OF for path in sorted((PACKAGE / room).rglob("*.py"))]
    found = [
        f"{path.relative_to(ROOT)}:{said.lineno}: {ast.unparse(value.value)}"
        for path in modules
        for said in _messages(ast.parse(text(path)), errors)
        for value in ast.walk(said)
        if isinstance(value, ast.FormattedValue)
        and re.search(r"(?:^|[_.'\"])(?:id|ids|key)(?:$|['\"\]])", ast.unparse(value.value))
    ]
    assert found == [], "\n".join(found)

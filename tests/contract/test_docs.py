"""The docs keep their word: diagrams equal the code, what they name exists, and their commands run."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from outlast.kernel.runs import rules as runs
from outlast.kernel.sandboxes import rules as sandboxes
from outlast.kernel.settings.load import load_settings, scalar_settings
from outlast.surfaces.cli.main import build_command
from outlast.surfaces.http.api import create_api

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
# Written by `make gen`, and proved current by a test of their own.
WRITTEN_BY_HAND = [page for page in PAGES if page.parent != DOCS / "reference"]
OUTLAST = [sys.executable, "-m", "outlast"]
COMMAND = r"(?:^|[` ])outlast ([a-z-]+(?: [a-z-]+)?)"


def names(pages: list[Path]) -> list[str]:
    return [str(page.relative_to(ROOT)) for page in pages]


def section(page: str, heading: str) -> str:
    """The text below a heading, up to the next one of its level or above."""
    text = (ROOT / page).read_text()
    level = heading.count("#")
    begin = text.index(f"\n{heading}\n") + len(heading) + 2
    end = re.search(rf"^#{{1,{level}}} ", text[begin:], re.MULTILINE)
    return text[begin : begin + end.start()] if end else text[begin:]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def diagram(heading: str) -> dict[str, set[str]]:
    """The first state diagram below a heading of docs/states.md: what each state may become."""
    drawn = re.findall(r"^```mermaid\n(.*?)^```", section("docs/states.md", heading), re.MULTILINE | re.DOTALL)[0]
    after: dict[str, set[str]] = {}
    for before, then in re.findall(r"^ +(\w+) --> (\w+|\[\*\])", drawn, re.MULTILINE):
        after.setdefault(before, set())
        if then != "[*]":
            after[before].add(then)
    return after


# --- states -----------------------------------------------------------------------------------------------------------


def test_the_diagram_of_a_run_is_that_of_the_rules() -> None:
    assert diagram("## Run") == {state: set(after) for state, after in runs.TRANSITIONS.items()}


def test_the_diagram_of_a_sandbox_is_that_of_the_rules() -> None:
    states = list(sandboxes.State)
    allowed = {a.value: {b.value for b in states if sandboxes.can_become(a, b)} for a in states}
    assert diagram("## Sandbox") == allowed


def test_the_status_of_a_thread_follows_its_run_as_written() -> None:
    written: dict[str, str] = {}
    for left, right in re.findall(r"^\| (.+?) \| `(\w+)` \|$", section("docs/states.md", "## Thread"), re.MULTILINE):
        written |= dict.fromkeys(re.findall(r"`(\w+)`", left), right)
    assert written == dict(runs.THREAD_STATUS)


def test_the_stop_reasons_written_down_are_the_same_everywhere() -> None:
    states = (DOCS / "states.md").read_text()
    sentence = re.search(r"`stop_reason` says why:\n(.+?)\n\(", states, re.DOTALL)
    assert sentence is not None
    explained = re.findall(r"^\| `(\w+)` \|", section("docs/guides/operate.md", "## Why did it stop?"), re.MULTILINE)
    assert set(explained) - {"stop_reason"} == set(re.findall(r"`(\w+)`", sentence[1]))


# --- what pages name --------------------------------------------------------------------------------------------------


def test_the_architecture_is_one_page_with_the_path_of_a_message_and_six_rules() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text()
    assert page.count("\n") <= 100
    assert "```mermaid" in section("ARCHITECTURE.md", "## The path of a message")
    rules = re.findall(r"^(\d)\. \*\*", section("ARCHITECTURE.md", "## Six rules to find the right file"), re.MULTILINE)
    assert rules == list("123456")


def test_the_walk_through_a_feature_names_existing_files_in_every_step() -> None:
    text = (DOCS / "guides" / "add-a-feature.md").read_text()
    for step in re.findall(r"^## \d.*?(?=^## )", text, re.MULTILINE | re.DOTALL):
        named = re.findall(r"^\| `([\w./-]+)` \|", step, re.MULTILINE)
        assert named, step.splitlines()[0]
        assert [path for path in named if not (ROOT / path).is_file()] == []


def test_routes_named_in_the_docs_exist() -> None:
    paths: dict[str, Any] = create_api().openapi()["paths"]
    known = {
        (method.upper(), re.sub(r"\{\w+\}", "{id}", path)) for path, methods in paths.items() for method in methods
    }
    missing = []
    for page in WRITTEN_BY_HAND:
        for method, path in re.findall(r"`(GET|POST|PUT|PATCH|DELETE) (/[\w/{}.-]+)", page.read_text()):
            plain = re.sub(r"\{\w+\}", "{id}", path).rstrip("/")
            if (method, plain) not in known and plain not in ("/healthz", "/readyz"):
                missing.append(f"{page.name}: {method} {path}")
    assert missing == []


def test_settings_named_in_the_docs_exist() -> None:
    known = {".".join(map(str, path)) for path, _, _ in scalar_settings()}
    sections = {name.split(".")[0] for name in known if "." in name}
    named = [
        (page.name, name)
        for page in WRITTEN_BY_HAND
        for name in re.findall(r"`([a-z]+\.[a-z_]+)(?: = [^`]+)?`", page.read_text())
        if name.split(".")[0] in sections and not name.endswith((".py", ".toml", ".md", ".key"))
    ]
    assert [entry for entry in named if entry[1] not in known and entry[1] not in EVENTS_LIKE_SETTINGS] == []


EVENTS_LIKE_SETTINGS = {"sandbox.state", "knowledge.updated", "knowledge.removed", "mcp.http", "mcp.stdio"}


@pytest.mark.parametrize("page", WRITTEN_BY_HAND, ids=names(WRITTEN_BY_HAND))
def test_configurations_shown_are_valid(page: Path, tmp_path: Path) -> None:
    for block in blocks(page, "toml"):
        file = tmp_path / "outlast.toml"
        file.write_text(block)
        tomllib.loads(block)
        load_settings(file, environ={})


def test_commands_of_outlast_named_in_the_docs_exist() -> None:
    named = [
        (page, words)
        for page in WRITTEN_BY_HAND
        for words in re.findall(COMMAND, page.read_text(), re.MULTILINE)
        if _in_code(page, f"outlast {words}")
    ]
    assert len(named) > 20
    assert [f"{page.name}: outlast {words}" for page, words in named if not _known(words.split())] == []


def _in_code(page: Path, words: str) -> bool:
    text = page.read_text()
    return any(words in block for block in blocks(page, "sh")) or f"`{words}" in text


def _known(words: list[str]) -> bool:
    group: Any = build_command().get_command(None, words[0])
    if group is None:
        return False
    verbs = getattr(group.declared.load(), "commands", None)
    return verbs is None or len(words) == 1 or words[1] in verbs


# --- the site ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as `make docs` builds it: strictly, so a link that leads nowhere fails here."""
    folder = tmp_path_factory.mktemp("site") / "docs"
    assert SITE["build"](folder) == 0
    return folder


SITE = runpy.run_path(str(ROOT / "scripts" / "site.py"))
HOOKS = runpy.run_path(str(ROOT / "scripts" / "site_hooks.py"))


def test_pages_of_the_site_load_nothing_from_elsewhere_and_run_no_script_of_their_own_text(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    loads = r"""<(?:script|img|link)\b[^>]*?(?:src|href)=["']?(?:https?:)?//[^>]*>"""
    inline = r"<script(?![^>]*(?:src=|application/json))[^>]*>"
    assert len(pages) > 40
    assert [(page.name, found) for page in pages for found in re.findall(loads, page.read_text())] == []
    assert [(page.name, found) for page in pages for found in re.findall(inline, page.read_text())] == []


def test_language_models_find_every_page_of_the_navigation(site: Path) -> None:
    listed = re.findall(r"\(/docs/([^)]+)\)", (site / "llms.txt").read_text())
    assert listed == [path for path, _ in SITE["pages_in_order"]()]
    assert [path for path in listed if not (site / path).is_file()] == []
    whole = (site / "llms-full.txt").read_text()
    assert all((DOCS / path).read_text().strip() in whole for path in listed)


def test_every_diagram_is_drawn_as_it_is_written() -> None:
    diagrams = {HOOKS["picture"](text) for page in DOCS.rglob("*.md") for text in blocks(page, "mermaid")}
    drawn = {path.name for path in (DOCS / HOOKS["DIAGRAMS"]).glob("*.svg")}
    assert drawn == diagrams, "run `make diagrams` and commit the result"


def test_hints_name_pages_that_the_site_has(site: Path) -> None:
    code = "\n".join(path.read_text() for path in (ROOT / "src" / "outlast").rglob("*.py"))
    named = set(re.findall(r"[ (\"}]/docs/([a-z0-9/-]+/)(#[\w-]+)?", code))
    assert len(named) >= 2
    for path, anchor in named:
        page = site / path / "index.html"
        assert page.is_file(), path
        assert not anchor or f'id="{anchor[1:]}"' in page.read_text(), anchor


# --- commands ---------------------------------------------------------------------------------------------------------


def test_doctor_finds_this_machine_fit_for_what_is_configured(tmp_path: Path) -> None:
    told = subprocess.run(
        [*OUTLAST, "doctor", "--data-dir", str(tmp_path)], check=False, capture_output=True, text=True, timeout=120
    )
    assert "Model demo" in told.stdout
    assert "Data directory" in told.stdout


def test_every_page_is_reached_by_links_from_the_readme() -> None:
    """Half of the pages stood behind no link that a reader meets."""
    waiting, seen = [ROOT / "README.md"], set[Path]()
    while waiting:
        page = waiting.pop()
        if page in seen:
            continue
        seen.add(page)
        links = re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", page.read_text())
        found = [(page.parent / link).resolve() for link in links]
        waiting += [one for one in found if one.suffix == ".md" and one.exists()]
        waiting += [inner for one in found if one.is_dir() for inner in one.glob("*.md")]
    assert sorted(str(page.relative_to(ROOT)) for page in {*DOCS.rglob("*.md")} - seen) == []


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_commands_are_written_as_they_are_called_and_installed_as_they_can_be(page: Path) -> None:
    """One spelling, which the quickstart makes work; and nothing is installed by a name that no index has."""
    text = page.read_text()
    assert re.findall(r"^\.venv/bin/outlast .*", text, re.MULTILINE) == []
    assert re.findall(r"install '?outlast.*", text) == []


def test_the_table_of_permissions_names_every_kind_of_thing() -> None:
    table = section("docs/concepts/permissions.md", "## Roles").lower()
    kinds = ("thread", "screen", "page", "document", "section", "comment", "propos", "file", "secret", "sandbox",
             "checkpoint", "knowledge", "module", "member", "preview")  # fmt: skip
    assert [kind for kind in kinds if kind not in table] == []


NOT_OURS = r"\b(?:shall|anew|heeds?|of one's own|goes along|one can|whoever|whomever|herein|thereof)\b"
"""Words that a reader trips over: must, again, honours, your own, moves with it, you can, the user who."""


@pytest.mark.parametrize("page", WRITTEN_BY_HAND, ids=names(WRITTEN_BY_HAND))
def test_pages_are_written_in_plain_words(page: Path) -> None:
    if page.parent.name == "decisions" or page.name == "CHANGELOG.md":
        return  # records stay as they were written
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(NOT_OURS, text, re.IGNORECASE) == []


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_rows_of_tables_have_as_many_cells_as_their_head(page: Path) -> None:
    """Rows that lost an empty cell showed their test in the wrong column."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = table.splitlines()
        cells = [len(re.findall(r"(?<!\\)\|", row)) for row in rows]
        assert [row for row, count in zip(rows, cells, strict=True) if count != cells[0]] == []

"""What makes files a skill."""

from __future__ import annotations

import pytest

from outlast.apps.skills.rules import LISTED_CHARS, SHORTEST, Bounds, checked_skill, listed
from outlast.base.errors import InputTooLarge
from outlast.base.skill_errors import SkillInvalid

BOUNDS = Bounds(files=5, size_bytes=200_000)


def main(name: str = "pdf-forms", description: str = "Fill in forms.", more: str = "") -> bytes:
    return f"---\nname: {name}\ndescription: {description}\n{more}---\nRead on.\n".encode()


def test_a_folder_is_read_with_or_without_its_name_before_the_paths() -> None:
    files = {"SKILL.md": main(more="license: MIT\nallowed-tools: terminal\n"), "scripts/fill.py": b"print(1)"}
    plain = checked_skill(files, BOUNDS)
    inside = checked_skill({f"pdf-forms/{path}": content for path, content in files.items()}, BOUNDS)
    assert plain == inside
    assert (plain.name, plain.license, plain.allowed_tools, plain.instructions) == (
        "pdf-forms",
        "MIT",
        "terminal",
        "Read on.",
    )
    assert sorted(plain.files) == ["SKILL.md", "scripts/fill.py"]


def test_the_digest_changes_with_any_path_or_content() -> None:
    one = {"SKILL.md": main(), "a.txt": b"a"}
    others = [{**one, "a.txt": b"b"}, {"SKILL.md": main(), "b.txt": b"a"}, {"SKILL.md": main()}]
    digests = {checked_skill(files, BOUNDS).digest for files in (one, *others)}
    assert len(digests) == 4
    assert checked_skill(dict(reversed(one.items())), BOUNDS).digest == checked_skill(one, BOUNDS).digest


def test_what_file_managers_leave_is_left_out() -> None:
    left = {"__MACOSX/._SKILL.md": b"", ".DS_Store": b"", ".git/config": b"", "scripts/__pycache__/a.pyc": b""}
    assert list(checked_skill({"SKILL.md": main(), **left}, BOUNDS).files) == ["SKILL.md"]


@pytest.mark.parametrize("name", ["", "PDF", "pdf_forms", "-pdf", "pdf-", "pdf--forms", "a" * 65, "pdf forms", "../up"])
def test_names_are_those_of_the_format(name: str) -> None:
    with pytest.raises(SkillInvalid, match=r"name in SKILL\.md"):
        checked_skill({"SKILL.md": main(name)}, BOUNDS)


@pytest.mark.parametrize("name", ["a", "pdf-forms", "2-a-3", "a" * 64])
def test_such_names_are_taken(name: str) -> None:
    assert checked_skill({"SKILL.md": main(name)}, BOUNDS).name == name


@pytest.mark.parametrize(
    "path",
    [
        "../up.txt",
        "a/../../up.txt",
        "/etc/passwd",
        "a//b",
        "./a",
        "a/.",
        "C:/a",
        "a\\b",
        "a\nb",
        "a\x00b",
        "a" * 201,
        "",
    ],
)
def test_paths_that_lead_out_are_refused(path: str) -> None:
    with pytest.raises(SkillInvalid):
        checked_skill({"SKILL.md": main(), path: b"x"}, BOUNDS)


def test_bounds_and_missing_parts_are_refused() -> None:
    too_many = {f"{number}.txt": b"" for number in range(5)}
    with pytest.raises(InputTooLarge, match="6 files; at most 5"):
        checked_skill({"SKILL.md": main(), **too_many}, BOUNDS)
    with pytest.raises(InputTooLarge, match="at most 200,000"):
        checked_skill({"SKILL.md": main(), "a": b"x" * 200_000}, BOUNDS)
    with pytest.raises(InputTooLarge, match=r"SKILL\.md has"):
        checked_skill({"SKILL.md": main() + b"x" * 100_000}, BOUNDS)
    for files, words in (
        ({"skill.md": main()}, "no SKILL.md"),
        ({"a/SKILL.md": main(), "b/c.txt": b""}, "no SKILL.md"),
        ({}, "no SKILL.md"),
        ({"SKILL.md": b"\xff\xfe"}, "UTF-8"),
        ({"SKILL.md": main(description="")}, "no description"),
        ({"SKILL.md": main(description="x" * 1_025)}, "more than 1,024"),
        ({"SKILL.md": main(), "a": b"", "a/b": b""}, "both a file and a folder"),
    ):
        with pytest.raises(SkillInvalid, match=words):
            checked_skill(files, BOUNDS)


def test_lines_in_the_prompt_are_cut_to_a_bound_and_keep_every_name() -> None:
    assert list(listed({"a": "Short.", "b": "x" * 1_000})) == ["- a: Short.", f"- b: {'x' * 1_000}"]
    many = {f"skill-{number}": "x" * 1_024 for number in range(100)}
    lines = list(listed(many))
    assert len(lines) == 100
    assert all(line.endswith("…") for line in lines)
    assert sum(map(len, lines)) < LISTED_CHARS + 100 * 16
    assert len(next(listed({f"s{number}": "x" * 100 for number in range(1_000)}))) <= SHORTEST + 10

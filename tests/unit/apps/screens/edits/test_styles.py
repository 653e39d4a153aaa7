"""CSS as classes: without a sandbox by rule, with one as the project's own Tailwind calls it."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.screens.edits import design_system
from outlast.apps.screens.edits.css_values import canonical
from outlast.apps.screens.edits.styles import PROPERTIES, to_classes
from tests.unit.apps.screens.edits.sources import apply_edits, edit_of
from tests.unit.apps.screens.edits.tailwind import project, run

ONES = {
    "background-color": ["#3b82f6", "var(--primary)", "transparent", "rgb(1 2 3 / 50%)", "oklch(0.7 0.1 20)"],
    "color": ["#fff", "var(--muted-foreground)", "red", "var(--mine)", "color-mix(in oklab, red 50%, blue)"],
    "background-image": ["none", "linear-gradient(90deg, red, blue 50%)", "url(/a_b.png)"],
    "border-color": ["#000", "var(--border)", "currentcolor"],
    "border-width": ["3px", "0", "calc(1px + 2px)"],
    "border-style": ["dashed", "none"],
    "border-radius": ["7px", "50%"],
    "border-top-left-radius": ["7px"],
    "opacity": ["0.35", "40%"],
    "display": ["flex", "grid", "none", "list-item"],
    "flex-direction": ["column", "row-reverse"],
    "justify-content": ["space-between", "flex-end", "left"],
    "align-items": ["center", "baseline"],
    "grid-template-columns": ["repeat(3, minmax(0, 1fr))", "200px 1fr"],
    "gap": ["13px"],
    "row-gap": ["5px"],
    "padding": ["13px", "4px 8px"],
    "padding-left": ["2.5rem"],
    "margin": ["-13px", "auto"],
    "margin-top": ["3%"],
    "width": ["auto", "33%", "calc(100% - 2rem)", "320px"],
    "max-width": ["none", "65ch"],
    "height": ["100dvh"],
    "font-size": ["17px", "clamp(1rem, 2vw, 3rem)"],
    "font-weight": ["350", "700"],
    "font-family": ['Georgia, "Times New Roman", serif', "var(--font-mono)"],
    "line-height": ["1.35", "26px"],
    "letter-spacing": ["-0.013em"],
    "text-align": ["center", "justify"],
    "text-transform": ["uppercase", "none"],
    "font-style": ["italic"],
    "text-decoration-line": ["underline"],
    "object-fit": ["cover"],
    "object-position": ["50% 25%"],
    "aspect-ratio": ["16 / 9", "auto"],
    "overflow": ["hidden"],
    "mask-type": ["luminance"],
}
CASES = [(name, value) for name, values in ONES.items() for value in values]
CLASS = re.compile(r"[^\s\"`{}<]+")


def test_the_seeds_example_is_as_the_seed_says() -> None:
    assert to_classes({"background-color": "#3b82f6"}).classes == {"background-color": "bg-[#3b82f6]"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def table(folder: Path) -> dict[str, str]:
    found = design_system.read_table(run(folder, design_system.table_command()))
    assert found is not None
    return found


@pytest.mark.parametrize("known", [False, True])
def test_tailwind_reads_each_class_as_the_style_that_was_asked_for(
    folder: Path, table: dict[str, str], known: bool
) -> None:
    made = {case: to_classes(dict([case]), table if known else None).classes[case[0]] for case in CASES}
    said = design_system.read_classes(
        run(folder, design_system.classes_command(list(made.values()))), list(made.values())
    )
    assert said is not None
    wrong = {}
    for (name, value), class_ in made.items():
        declared = dict(said[class_] or [])
        same = canonical(name, declared.get(name, "")) == canonical(name, value.replace('"', "'"))
        if not (same or _is_token(declared.get(name, ""), value) or "--spacing" in declared.get(name, "")):
            wrong[f"{name}: {value}"] = (class_, said[class_])
    assert wrong == {}


@pytest.mark.parametrize(
    ("name", "value", "class_"),
    [
        ("padding", "16px", "p-4"),
        ("padding-top", "1rem", "pt-4"),
        ("padding", "13px", "p-[13px]"),
        ("margin", "-16px", "-m-4"),
        ("width", "100%", "w-full"),
        ("width", "50%", "w-1/2"),
        ("font-weight", "600", "font-semibold"),
        ("opacity", "0.5", "opacity-50"),
        ("background-color", "var(--primary)", "bg-primary"),
        ("background-color", "#3b82f6", "bg-[#3b82f6]"),
        ("color", "oklch(62.3% 0.214 259.815)", "text-blue-500"),
        ("border-radius", "var(--radius)", "rounded-lg"),
        ("border-width", "2px", "border-2"),
        ("line-height", "24px", "leading-6"),
        ("text-align", "center", "text-center"),
        ("display", "none", "hidden"),
        ("font-family", "var(--font-mono)", "font-mono"),
        ("grid-template-columns", "repeat(3, minmax(0, 1fr))", "grid-cols-3"),
        ("font-size", "14px", "text-[14px]"),  # text-sm would set the height of lines too
    ],
)
def test_the_projects_own_names_come_first(table: dict[str, str], name: str, value: str, class_: str) -> None:
    assert to_classes({name: value}, table).classes == {name: class_}


def test_a_project_with_another_scale_gets_its_own_classes(tmp_path: Path) -> None:
    css = '@import "tailwindcss"; @theme { --spacing: 5px; --color-brand: #123456; }'
    found = design_system.read_table(run(project(tmp_path, css), design_system.table_command()))
    assert to_classes({"padding": "20px", "color": "#123456"}, found).classes == {
        "padding": "p-4",
        "color": "text-brand",
    }


def test_a_class_that_does_not_exist_is_known(folder: Path) -> None:
    asked = ["p-4", "md:hover:p-4", "nope", "bg-nope", "p-[3px]", "it's"]
    said = design_system.read_classes(run(folder, design_system.classes_command(asked)), asked)
    assert said is not None
    assert {name: one is not None for name, one in said.items()} == {
        "p-4": True,
        "md:hover:p-4": True,
        "nope": False,
        "bg-nope": False,
        "p-[3px]": True,
        "it's": False,
    }
    assert said["p-[3px]"] == [("padding", "3px")]
    assert said["md:hover:p-4"] == []


@pytest.mark.parametrize(
    "output",
    ["", "sh: node: not found", "<<outlast {broken outlast>>", "<<outlast {} outlast", "<<outlast 1 outlast>>"],
)
def test_a_sandbox_that_cannot_answer_is_known(output: str) -> None:
    assert design_system.read_table(output) is None
    assert design_system.read_classes(output, ["p-4"]) is None


def test_only_what_could_be_a_class_is_taken_from_a_sandbox() -> None:
    lies = '<<outlast {"padding:16px": ["p-4\\" onload=\\"x", 3, "`", "p 4"], "color:red": "x"} outlast>>'
    assert design_system.read_table(lies) == {}


NAMES = st.sampled_from(PROPERTIES) | st.text(max_size=20)
VALUES = st.sampled_from([value for _, value in CASES]) | st.text(max_size=40)


@given(st.dictionaries(NAMES, VALUES, max_size=6))
def test_every_style_is_either_a_class_that_can_be_written_or_refused(styles: dict[str, str]) -> None:
    mapped = to_classes(styles)
    assert {*mapped.classes, *mapped.refused} == set(styles)
    for class_ in mapped.classes.values():
        assert CLASS.fullmatch(class_), class_
        assert class_.count("[") == class_.count("]") or "'" in class_
    edit = edit_of("a.tsx:1:10", "classes", None, " ".join(mapped.classes.values()))
    assert apply_edits({"a.tsx": b"const a = <p />"}, [edit]).results[0].status == "applied"


@given(NAMES, st.text(max_size=60))
def test_values_are_spelled_the_same_however_often(name: str, value: str) -> None:
    once = canonical(name, value)
    assert canonical(name, canonical(name, once)) == canonical(name, once)


def _is_token(declared: str, value: str) -> bool:
    """What the theme says in its own words for the value: a variable of it."""
    return (declared.startswith("var(--") and not value.startswith("var(")) or declared == value

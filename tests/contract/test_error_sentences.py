"""Sentences of errors are read by people: they name no ids. Programs find these in the fields of the problem."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from outlast.base import agent_errors, errors, lookups, schedule_errors

SOURCE: Final = Path(errors.__file__).parents[1]
KINDS: Final = frozenset(
    name
    for name, kind in (vars(errors) | vars(agent_errors) | vars(schedule_errors)).items()
    if isinstance(kind, type) and issubclass(kind, errors.OutlastError)
)
# "Run {busy} …" names one by its id, whatever the variable is called.
NAMED: Final = re.compile(
    r"\b(?:approval|artifact|attachment|checkpoint|comment|document|invitation|message|page|project|run|"
    r"sandbox|screen|thread|user|workspace) $",
    re.IGNORECASE,
)
# Who reads these knows the names: operators their own settings and folders, a theme its name, programs of E2B their
# sandboxes. The list only gets shorter.
ALLOWED: Final = frozenset(
    {
        ("kernel/sandboxes/hosted_actions.py", "shown"),
        ("kernel/models/catalog.py", "model.id"),
        ("kernel/deployment.py", "first.id"),
        ("kernel/deployment.py", "folder_ids"),
        ("kernel/deployment.py", "mark.id"),
        ("kernel/deployment.py", "standing.id"),
        ("surfaces/protocols/e2b/control.py", "shown_id(workspace_id)"),
        ("surfaces/protocols/e2b/names.py", "sandbox_id[:60]"),
    }
)


def sentences(tree: ast.AST) -> Iterator[ast.expr]:
    """What errors are made with: their message, and their hint."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        if name in KINDS or name == lookups.demand_found.__name__:
            yield from call.args
            yield from (word.value for word in call.keywords if word.arg == "hint")


def ids_in(sentence: ast.expr) -> list[str]:
    """What its f-strings say that is called an id, or stands where a thing is named."""
    found: list[str] = []
    for text in (one for one in ast.walk(sentence) if isinstance(one, ast.JoinedStr)):
        before = ""
        for part in text.values:
            if isinstance(part, ast.Constant):
                before = str(part.value)
            elif isinstance(part, ast.FormattedValue):
                if is_id(part.value) or NAMED.search(before):
                    found.append(ast.unparse(part.value))
                before = ""
    return found


def is_id(expression: ast.expr) -> bool:
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return name in ("id", "ids") or name.endswith(("_id", "_ids"))
        case ast.Call(args=arguments):
            return any(is_id(one) for one in arguments)
        case _:
            return False


def found() -> set[tuple[str, str]]:
    files = [path for path in SOURCE.rglob("*.py") if "testing" not in path.parts]
    return {
        (path.relative_to(SOURCE).as_posix(), shown)
        for path in files
        for sentence in sentences(ast.parse(path.read_text()))
        for shown in ids_in(sentence)
    }


def test_no_sentence_of_an_error_names_an_id() -> None:
    assert found() - ALLOWED == set()


def test_every_exception_is_still_needed() -> None:
    assert ALLOWED - found() == set()


@pytest.mark.parametrize(
    "code",
    [
        'NotFound(f"There is no run {run_id}.")',
        'errors.NotFound(f"Run {run.id}" f" has ended.")',
        'Conflict("No.", hint=f"Ask {row[\'user_id\']!r}.")',
        'Conflict(f"Run {busy} has not ended.")',
        'Conflict(f"Still there: {str(thread_ids)}.")',
    ],
)
def test_a_sentence_with_an_id_is_found(code: str) -> None:
    assert any(ids_in(sentence) for sentence in sentences(ast.parse(code)))


def test_a_field_with_an_id_is_none_of_a_sentence() -> None:
    code = 'NotFound(f"There is no such run after {steps} steps.", run_id=run_id)'
    assert not any(ids_in(sentence) for sentence in sentences(ast.parse(code)))

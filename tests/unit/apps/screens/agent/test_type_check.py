"""What the compiler found, as model and people are told it."""

from __future__ import annotations

from outlast.apps.screens.agent.type_check import MAX_ERRORS, TEXT_CHARS, Problem, errors_in, type_problem
from outlast_sandbox.interface import CommandResult

OUTPUT = """app/page.tsx(3,7): error TS2322: Type 'string' is not assignable to type 'number'.
components/plan (1).tsx(10,12): error TS2741: Property 'name' is missing in type '{}'.
  The expected type comes from property 'plan'
    which is declared here.
error TS18003: No inputs were found.
"""


def result(output: str = "", exit_code: int = 2, timed_out: bool = False, reason: str | None = None) -> CommandResult:
    return CommandResult(exit_code, output, timed_out, False, 1.0, reason)


def found(answer: CommandResult) -> Problem:
    problem = type_problem(answer, 9)
    assert problem is not None
    return problem


def test_no_errors_are_no_problem() -> None:
    assert type_problem(result(exit_code=0), 9) is None


def test_each_error_is_told_with_file_line_column_code_and_what_explains_it() -> None:
    assert errors_in(OUTPUT) == [
        "app/page.tsx:3:7 TS2322 Type 'string' is not assignable to type 'number'.",
        (
            "components/plan (1).tsx:10:12 TS2741 Property 'name' is missing in type '{}'.\n"
            "  The expected type comes from property 'plan'\n    which is declared here."
        ),
        "TS18003 No inputs were found.",
    ]
    types = found(result(OUTPUT))
    assert types.text.startswith("`./node_modules/.bin/tsc --noEmit` finds 3 type errors:\napp/page.tsx:3:7")
    assert types.short == (
        "3 type errors, the first: app/page.tsx:3:7 TS2322 Type 'string' is not assignable to type 'number'."
    )
    assert types.mendable


def test_very_many_errors_are_told_in_part() -> None:
    many = "".join(f"app/p{n}.tsx(1,1): error TS1: {'x' * 900}\n" for n in range(200))
    types = found(result(many))
    assert len(types.text) < TEXT_CHARS + 1_000
    assert types.text.count("TS1 ") <= MAX_ERRORS
    assert types.text.rstrip().endswith("more")


def test_a_check_that_could_not_be_done_is_no_matter_for_the_model() -> None:
    for broken in (result(timed_out=True), result(reason="memory", exit_code=137), result("not found", 127)):
        types = found(broken)
        assert not types.mendable
        assert types.text.startswith("The types could not be checked: ")


def test_a_compiler_that_fails_in_other_words_is_quoted() -> None:
    types = found(result("SyntaxError: tsconfig.json", 1))
    assert "SyntaxError: tsconfig.json" in types.text
    assert types.mendable

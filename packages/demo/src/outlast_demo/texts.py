"""The demo model's longer texts and programs: data, no logic."""

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

_FOLDER: Final = Path(__file__).with_suffix("")


@dataclass(frozen=True, slots=True)
class Program:
    """A small Python program that the demo writes and runs."""

    path: str
    thought: str
    source: str


INTRODUCTION: Final = (_FOLDER / "introduction.md").read_text(encoding="utf-8")

PROGRAMS: Final = MappingProxyType(
    {
        "fibonacci": Program(
            path="fibonacci.py",
            thought=(
                "The user wants to see code that runs. A Fibonacci program is short, and its output is easy to check: "
                "every number is the sum of the two before it. "
            ),
            source='''"""Prints the first Fibonacci numbers and an approximation of the golden ratio."""


def fibonacci(count: int) -> list[int]:
    numbers = [0, 1]
    while len(numbers) < count:
        numbers.append(numbers[-1] + numbers[-2])
    return numbers[:count]


if __name__ == "__main__":
    sequence = fibonacci(20)
    print("fibonacci:", ", ".join(str(number) for number in sequence))
    print(f"ratio of the last two: {sequence[-1] / sequence[-2]:.9f}")
''',
        ),
        "primes": Program(
            path="primes.py",
            thought=(
                "The user asked for primes. A sieve is short and quick, and its result is easy to check: there are 25 "
                "primes below one hundred. "
            ),
            source='''"""Prints the primes below one hundred, found with a sieve."""


def primes_below(limit: int) -> list[int]:
    is_prime = [False, False] + [True] * (limit - 2)
    for number in range(2, int(limit**0.5) + 1):
        if is_prime[number]:
            is_prime[number * number :: number] = [False] * len(is_prime[number * number :: number])
    return [number for number, prime in enumerate(is_prime) if prime]


if __name__ == "__main__":
    found = primes_below(100)
    print("primes:", ", ".join(str(number) for number in found))
    print("how many:", len(found))
''',
        ),
    }
)

ESSAY: Final = (_FOLDER / "essay.md").read_text(encoding="utf-8")

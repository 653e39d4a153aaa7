"""The demo model's longer texts and programs: data, no logic."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Program:
    """A small Python program the demo writes and runs."""

    path: str
    thought: str
    source: str


INTRODUCTION: Final = """Hello. I am the **demo model**: my words are *recorded*, but the tools I call are real.

I need no key and no network. I look for a few words in your message and play the answer recorded for them, so I cannot
hold a conversation. Everything around me is the real thing: the run you just started is stored, it goes on when you
close this page, and it survives a restart of the server.

Things to try:

| say | and watch |
|---|---|
| *write a fibonacci program* | a file written, run in the sandbox, and TypeScript evaluated |
| *run a long command* | twenty seconds of output: close the tab, or stop the server |
| *clean up* | an approval: I ask before I delete |
| *ask me a question* | a question that waits as long as you like |
| *tell me a story* | a long text, streamed word by word |

On a project's canvas I build screens: ask a new one for *a pricing page*, *a dashboard* or *a kanban board*,
then say *make it warmer*.

For a model that thinks, add a provider and its key to the configuration, and choose it below the text box.
"""

PROGRAMS: Final = MappingProxyType(
    {
        "fibonacci": Program(
            path="fibonacci.py",
            thought=(
                "The person wants to see code that runs. A Fibonacci sequence is small enough to read and has an "
                "output that is easy to check: every number is the sum of the two before it. "
            ),
            source='''"""Prints the first Fibonacci numbers and how close their ratio comes to the golden one."""


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
                "The person asked for primes. A sieve is short, quick, and its result can be checked by hand: there "
                "are 25 primes below one hundred. "
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

ESSAY: Final = """# The lighthouse that wrote things down

There was once a lighthouse whose keeper could not stay awake. Not out of laziness: the lamp had to be trimmed every
hour, the fog horn wound every two, and the ships counted in a book that nobody ever closed. One person can do all of
that for a night. Nobody can do it for a winter.

The first keeper tried to remember everything. When he slept, the lighthouse slept with him, and in the morning he
guessed: had the horn been wound at four, or had he only dreamed it? Sometimes he wound it twice. Once he did not wind
it at all. The book of ships had holes exactly as long as his naps, and he filled them with what seemed likely.

The second keeper changed one habit. **Before she touched anything she wrote down what she was about to do, and after it
was done she wrote down what had come of it.** It looked like paperwork. Her sister, who visited in the spring, thought
it a waste of ink.

Then came the night of the long storm. The second keeper slipped on the stairs and lay there until a fisherman found her
and took her place. He had never trimmed a lamp. But the book lay open, and its last lines said:

```text
02:00  about to wind the horn
02:04  horn wound, 40 turns
03:00  about to trim the lamp
```

There was no line after that. So he knew three things that the first keeper's successor could never have known: that the
horn was good until four, that the lamp had been begun and perhaps not finished, and that nothing else was open. He
looked at the lamp, saw that it was half trimmed, and finished it. Not one ship noticed that the keeper had changed.

## What the book is good for

People who build long-running software learn the same lesson, usually on a night of their own. It comes in parts:

1. *Intent first.* An action that is not announced cannot be told from one that never happened.
2. *Result next, at once.* What was paid for, sent, or deleted must be known before the next step begins.
3. *Nothing in the head.* Whatever lives only in memory is a guess after the first fall on the stairs.
4. *Any keeper will do.* If the book is complete, the one who reads it does not have to be the one who wrote it.

The last point is the one that changes how a thing feels to use. You may go home. You may lose your connection in a
tunnel, close the lid, come back tomorrow from another machine. The work was never attached to you; you were only
watching it through a window, and windows may be opened and shut.

## Two lighthouses, side by side

| the night brings | the keeper who remembers | the keeper who writes |
|---|---|---|
| a nap | an hour is guessed | an hour is read |
| a stranger takes over | starts from nothing | goes on from the last line |
| the same bell, twice | winds the horn twice | sees that it is wound |
| a question nobody answers | waits, and does nothing else | leaves the question in the book, and sleeps |

The bottom row deserves a word. Some steps need somebody else: a harbour master who must allow the signal, a captain who
must say which light he saw. The keeper who remembers has to stand there until the answer comes. The keeper who writes
puts the question on the page and goes to bed. Waiting, done well, costs nothing; a thousand open questions are a
thousand lines of ink.

## And the price

It is not free. Each line takes a moment, and a book must be kept dry. A clever keeper gathers small things (the ships
of one minute, the drops of one shower) into a single line, and spends a line of its own only on what must not happen
twice. Get that balance right and the writing disappears into the work.

The lighthouse still stands. The keepers have changed more often than anyone counted, except the book, which counted
them all. On its first page, in the second keeper's hand, there is a rule that fits on one line: *do not be the one who
knows; be the one who can be replaced.*
"""

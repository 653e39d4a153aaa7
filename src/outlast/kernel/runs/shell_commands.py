"""Finds the programs that a shell script would run, each under one name in any spelling, so that a policy can name
them.

`npm start`, `pnpm run start` and `yarn --cwd web start` are all `npm run start`; `npx next@16 dev --turbo`,
`./node_modules/.bin/next` and `node node_modules/next/dist/bin/next dev` are all `next dev`. Followed are wrappers
(`env`, `timeout 9`, `nohup` …), `sh -c`, `eval`, here-documents and pipes into a shell, `xargs`, `find -exec`, and
programs given in quotes to an interpreter that start others. A word whose value only running the script would show
matches any value that it could have.

Not followed: files (a script written first and run then, or a new name in package.json). A policy of commands prevents
mistakes, not malice; the sandbox is the protection against malice.

Bounds: a script of `LONGEST` characters, and 20 steps for each of them. A script beyond that counts as one that runs
anything. It takes up to half a second of processor time: call it in a thread.
"""

import fnmatch
import re
from collections.abc import Iterator, Sequence
from typing import Final

from outlast.base.data_files import read_names
from outlast.base.syntax_trees import TooManySteps
from outlast.kernel.runs.shell_syntax import UNKNOWN, Budget, SimpleCommand, simple_commands

Words = tuple[str, ...]
_SHELLS: Final = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "fish"})
_WRAPPERS: Final = read_names(__file__, "shell_wrappers")
_MANAGERS: Final = frozenset({"npm", "pnpm", "yarn", "bun", "cnpm", "tnpm"})
_RUN: Final = frozenset({"run", "run-script", "rum", "urn", "task"})
_EXEC: Final = frozenset({"exec", "x", "dlx", "explore", "node"})
_OTHER_VERBS: Final = read_names(__file__, "package_manager_verbs")
_OWN_SCRIPTS: Final = frozenset({"start", "stop", "restart", "test"})  # npm runs these without `run`
_VERBS: Final = {
    "next": frozenset({"dev", "build", "start", "lint", "info", "telemetry", "typegen", "upgrade", "analyze"}),
    "vite": frozenset({"dev", "serve", "build", "preview", "optimize"}),
}
_ASKS_ONLY: Final = frozenset({"--help", "-h", "--version", "-v"})
_INTERPRETERS: Final = re.compile(r"(?:python|node|deno|bun|perl|ruby|php)[0-9.]*")
_STARTS_OTHERS: Final = re.compile(r"exec|spawn|system|popen|subprocess|child_process|Command\(|Bun\.\$|`|qx")
_QUOTED: Final = re.compile(r"'([^'\n]*)'|\"([^\"\n]*)\"|`([^`\n]*)`")
_LISTED: Final = re.compile(r"[\[(]\s*((?:['\"][^'\"\n]*['\"]\s*,\s*(?:\[\s*)?)+['\"][^'\"\n]*['\"])")
_BEFORE: Final = {"timeout": 1, "chroot": 1, "flock": 1, "taskset": 1, "chrt": 1, "setarch": 1, "prlimit": 1}
_TAKE_SCRIPTS: Final = frozenset(
    {"watch", "script", "su", "runuser", "flock", "env", "parallel", "concurrently", "npx", "pnpx", "bunx", "nodemon"}
)
_DEEPEST: Final = 6
ANYTHING: Final[Sequence[Words]] = ((UNKNOWN,),)  # a script that may run any program
_GIT_TAKES_A_WORD: Final = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source"}
)


def programs_of(script: str, budget: Budget | None = None) -> Sequence[Words]:
    """The programs that a script would run, each as words that begin with its name: `("npm", "run", "dev")`. A word may
    hold `UNKNOWN`. The same program may occur more than once. Returns `ANYTHING` if the script is too long, or takes
    too many steps."""
    budget = budget or Budget(script)
    try:
        found = dict.fromkeys(
            words for command in simple_commands(script, budget) for words in _programs(command, 0, budget)
        )
    except TooManySteps:
        return ANYTHING
    return list(found)


def first_match(programs: Sequence[Words], patterns: Sequence[str]) -> str | None:
    """The first pattern that one of the programs matches, or None if none does. The words of a pattern are globs.
    Options (`-r`, `--hard`) match an option of the program at any place, a single letter also in a group of letters;
    the other words match the first words of the program."""
    if programs is ANYTHING:
        return patterns[0] if patterns else None
    return next((p for p in patterns if any(_matches(words, p.split()) for words in programs)), None)


def _matches(words: Words, pattern: Sequence[str]) -> bool:
    first = [word for word in pattern if not word.startswith("-")]
    options = [word for word in pattern if word.startswith("-")]
    return (
        len(words) >= len(first)
        and all(map(_could_be, words, first))
        and all(any(_is_option(word, option) for word in words[1:]) for option in options)
    )


def _is_option(word: str, option: str) -> bool:
    if not word.startswith("-"):
        return False
    among_others = re.fullmatch(r"-\w", option) and re.fullmatch(r"-\w+", word) and option[1] in word
    return bool(among_others) or _could_be(word, option)


def _could_be(word: str, pattern: str) -> bool:
    if UNKNOWN not in word:
        return fnmatch.fnmatchcase(word, pattern)
    shape = "".join(".*" if piece == UNKNOWN else re.escape(piece) for piece in re.split(f"({UNKNOWN})", word))
    return re.fullmatch(shape, pattern, re.DOTALL) is not None


def _programs(command: SimpleCommand, deep: int, budget: Budget) -> Iterator[Words]:
    """The programs of a command: the one that it names and, if that starts others, those too."""
    words = command.words
    if command.loose:
        yield from _by_name(_name(words[0]), words[1:], budget)
        return
    begins, seen = [(0, False)] if words and deep <= _DEEPEST else [], set[int]()
    while begins:  # places where a program may begin, or the file that an interpreter runs
        at, is_file = begins.pop()
        if at in seen:
            continue
        seen.add(at)
        budget.spend(len(words))
        name, rest = _name(words[at]), words[at + 1 :]
        if is_file and name == UNKNOWN:
            yield from _whatever_it_is(name, rest, budget)
            continue
        if name in ("xargs", "parallel") and len(seen) <= _DEEPEST:
            rest = [*(word.replace("{}", UNKNOWN) for word in rest), UNKNOWN]  # its input
            words = [*words[: at + 1], *rest]
        yield from _by_name(name, rest, budget)
        for script in _texts(name, rest, command.stdin):
            for inner in simple_commands(script, budget):
                yield from _programs(inner, deep + 1, budget)
        is_file = _INTERPRETERS.fullmatch(name) is not None
        begins += [(at + 1 + place, is_file) for place in _places(name, rest)]


def _by_name(name: str, rest: list[str], budget: Budget) -> Iterator[Words]:
    """The program under its canonical name, and as it was written."""
    budget.spend(1 + len(rest))
    yield (name, *rest)
    plain = [word for word in rest if not word.startswith("-")]
    if plain != rest:
        yield (name, *plain)
    if UNKNOWN in name:
        yield from _whatever_it_is(name, rest, budget)
    elif name in _MANAGERS or name in ("deno", "turbo"):
        yield from _by_manager(name, rest, budget)
    elif name in ("npm-run-all", "npm-run-all2", "run-p", "run-s"):
        yield from (("npm", "run", word) for word in plain)
    elif name in _VERBS:
        yield from _by_verb(name, rest)
    elif name == "git":
        yield ("git", *_without_git_options(rest))


def _whatever_it_is(name: str, rest: list[str], budget: Budget) -> Iterator[Words]:
    """A program whose name is not known counts as any program that the rest of its words fit."""
    if all(UNKNOWN in word for word in rest):
        return
    for manager in ("npm", "yarn"):
        if _could_be(name, manager) and any(word in _RUN or word == "start" for word in rest):
            yield from _by_manager(manager, rest, budget)
    for program, verbs in _VERBS.items():
        if _could_be(name, program) and any(word in verbs for word in rest):
            yield from _by_verb(program, rest)


def _by_manager(name: str, rest: list[str], budget: Budget) -> Iterator[Words]:
    own = rest[: rest.index("--")] if "--" in rest else rest
    words = [(at, word) for at, word in enumerate(own) if not word.startswith("-")]
    for number, (at, word) in enumerate(words, start=1):
        if word in _RUN or (name == "turbo" and word in ("dev", "build", "start")):
            scripts = [script for _, script in words[number:]] or ([word] if name == "turbo" else [])
            yield from (("npm", "run", script) for script in scripts)
            return
        if word in _EXEC or word in _OTHER_VERBS:
            return
        if name != "npm" or word in _OWN_SCRIPTS or UNKNOWN in word:
            yield ("npm", "run", word)
        if name not in ("npm", "deno", "turbo"):  # yarn and pnpm run programs of the project by their name
            yield from _by_name(_name(word), rest[at + 1 :], budget)


def _without_git_options(rest: list[str]) -> list[str]:
    """The words of git from its verb on, without options such as `-C folder` before it."""
    at = 0
    while at < len(rest) and rest[at].startswith("-"):
        at += 2 if rest[at] in _GIT_TAKES_A_WORD else 1
    return rest[at:]


def _by_verb(name: str, rest: list[str]) -> Iterator[Words]:
    if _ASKS_ONLY.intersection(rest):
        return
    verb = next((word for word in rest if word in _VERBS[name] or UNKNOWN in word), "dev")
    yield name, "dev" if verb == "serve" else verb


def _places(name: str, rest: Sequence[str]) -> Iterator[int]:
    """The places in its words where a program names another one that it starts."""
    if name == "find":
        for at, word in enumerate(rest[:-1]):
            if word in ("-exec", "-execdir", "-ok", "-okdir"):
                yield at + 1
        return
    runs_of_package = _exec_of(name, rest) if name in _MANAGERS or name == "deno" else None
    if runs_of_package is not None:
        begin = runs_of_package + 1
        yield from (begin + place for place in _first_program(rest[begin:], 0))
    elif (name in _WRAPPERS or _INTERPRETERS.fullmatch(name)) and not _only_manages(name, rest):
        yield from _first_program(rest, _BEFORE.get(name, 0))


def _only_manages(name: str, rest: Sequence[str]) -> bool:
    """True if a wrapper starts no program this time: it looks for one, or manages packages."""
    if name == "command":
        return bool({"-v", "-V"} & set(rest))
    verb = next((word for word in rest if not word.startswith("-")), "")
    return name in ("bun", "deno", "corepack") and verb in _OTHER_VERBS


def _exec_of(name: str, rest: Sequence[str]) -> int | None:
    """The place where a package manager names a package's program to run, or None if it runs none."""
    for at, word in enumerate(rest):
        if word in _EXEC or (word == "run" and name in ("bun", "deno")):
            return at
        if word in _RUN or word in _OTHER_VERBS:
            return None
    return None


def _first_program(words: Sequence[str], before: int) -> Iterator[int]:
    """The possible places of the program: after `before` words of the wrapper's own and its options. An option may take
    the next word, so with options there are several places. A later option takes a word that is not known."""
    place, taken, option = 0, 0, False
    for at, word in enumerate(words):
        if word.startswith("-") or "=" in word:
            option = word.startswith("-") and "=" not in word and word != "--"
            continue
        if place > before + taken:
            return
        if option and word == UNKNOWN and place > before:
            option = False
            continue
        taken, place, option = taken + option, place + 1, False
        yield at


def _texts(name: str, rest: Sequence[str], stdin: str | None) -> Iterator[str]:
    """Scripts that a program receives as text."""
    if name == "eval":
        yield " ".join(rest)
    elif name == "trap":
        yield from rest[:1]
    elif name == "alias":
        yield from (word.partition("=")[2] for word in rest)
    elif name in _SHELLS:
        yield from _shell_scripts(rest, stdin)
    elif _INTERPRETERS.fullmatch(name):
        for code in (*(word for word in rest if _has_space(word)), stdin or ""):
            yield from _started_by(code)
    elif name in _TAKE_SCRIPTS or name in _MANAGERS:
        yield from (word for word in rest if _has_space(word))


def _shell_scripts(rest: Sequence[str], stdin: str | None) -> Iterator[str]:
    for at, word in enumerate(rest):
        if re.fullmatch(r"[-+][a-zA-Z]*c[a-zA-Z]*", word) or word == "--command":
            yield from (script for script in rest[at + 1 :] if not script.startswith("-"))
            return
    if stdin and all(word.startswith("-") or word == "/dev/stdin" for word in rest):
        yield stdin


def _has_space(word: str) -> bool:
    return any(space in word.strip() for space in " \t\n")


def _started_by(code: str) -> Iterator[str]:
    """Texts in a program that it may pass to a shell, if it starts others at all."""
    if not _STARTS_OTHERS.search(code):
        return
    for found in _QUOTED.finditer(code):
        yield next(text for text in found.groups() if text is not None)
    for found in _LISTED.finditer(code):  # ["npm", "run", "dev"], and ("npm", ["run", "dev"])
        yield " ".join(re.findall(r"['\"]([^'\"\n]*)['\"]", found.group(1)))


def _name(word: str) -> str:
    """The program's base name: without its folder, a package's version, or the extension of a script."""
    name = word.removeprefix("npm:").rsplit("/", 1)[-1]
    name = re.sub(r"(?<=.)@[^/]*$", "", name)
    return re.sub(r"\.(?:[cm]?[jt]s|cmd|exe|bin)$", "", name)

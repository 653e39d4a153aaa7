"""Which programs a shell script would run, under one name each however they are called, so that a policy can name them.

`npm start`, `pnpm run start` and `yarn --cwd web start` are all `npm run start`; `npx next@16 dev --turbo`,
`./node_modules/.bin/next` and `node node_modules/next/dist/bin/next dev` are all `next dev`. Followed are wrappers
(`env`, `timeout 9`, `nohup` …), `sh -c`, `eval`, here-documents and pipes into a shell, `xargs`, `find -exec`, and
programs given in quotes to an interpreter that start others. What only running would tell matches whatever it could be.

Not followed: files (a script written first and run then, or a new name in package.json). What a policy of commands
keeps from happening by mistake, it does not keep from happening by malice; that is what the sandbox is for.
"""

import fnmatch
import re
from collections.abc import Iterator, Sequence
from typing import Final

from outlast.core.runs.shell_reading import UNKNOWN, SimpleCommand, simple_commands

Words = tuple[str, ...]
_SHELLS: Final = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "fish"})
_WRAPPER_NAMES: Final = (
    "env command builtin exec nohup setsid nice ionice chrt taskset timeout stdbuf sudo doas chroot unshare watch "
    "strace ltrace flock su runuser script busybox time xargs parallel cross-env dotenv concurrently corepack npx pnpx "
    "bunx tsx ts-node nodemon node deno bun dlx faketime setarch prlimit systemd-run start-stop-daemon unbuffer"
)
_WRAPPERS: Final = frozenset(_WRAPPER_NAMES.split())
_MANAGERS: Final = frozenset({"npm", "pnpm", "yarn", "bun", "cnpm", "tnpm"})
_RUN: Final = frozenset({"run", "run-script", "rum", "urn", "task"})
_EXEC: Final = frozenset({"exec", "x", "dlx", "explore", "node"})
_OTHER_VERB_NAMES: Final = (
    "install i in ins inst isntall add ci clean-install uninstall remove rm un unlink update up upgrade outdated "
    "ls list ll la view info show why init create publish pack config cache audit fund doctor help version login "
    "logout whoami link root prefix bin dedupe prune rebuild search token pkg query set-script store import patch "
    "workspaces workspace self-update env setup"
)
_OTHER_VERBS: Final = frozenset(_OTHER_VERB_NAMES.split())
_OWN_SCRIPTS: Final = frozenset({"start", "stop", "restart", "test"})  # npm runs these without `run`
_VERBS: Final = {
    "next": frozenset(
        {"dev", "build", "start", "lint", "info", "telemetry", "typegen", "upgrade", "analyze"}
    ),
    "vite": frozenset({"dev", "serve", "build", "preview", "optimize"}),
}
_ASKS_ONLY: Final = frozenset({"--help", "-h", "--version", "-v"})
_INTERPRETERS: Final = re.compile(r"(?:python|node|deno|bun|perl|ruby|php)[0-9.]*")
_STARTS_OTHERS: Final = re.compile(r"exec|spawn|system|popen|subprocess|child_process|Command\(|Bun\.\$|`|qx")
_QUOTED: Final = re.compile(r"'([^'\n]*)'|\"([^\"\n]*)\"|`([^`\n]*)`")
_LISTED: Final = re.compile(r"[\[(]\s*((?:['\"][^'\"\n]*['\"]\s*,\s*(?:\[\s*)?)+['\"][^'\"\n]*['\"])")
_MOST_SUFFIXES: Final = 40
_MOST_WORDS: Final = 200


def programs_of(script: str) -> list[Words]:
    """What a script would run, each as words of which the first are its name: `("npm", "run", "dev")`. A word may hold
    `UNKNOWN`. The same program may come more than once."""
    return [words for command in simple_commands(script) for words in _programs(command, 0)]


def runs_one_of(script: str, patterns: Sequence[str]) -> str | None:
    """The first pattern that a program of the script matches: its words, each a glob, against the program's first
    words. None: none does."""
    programs = programs_of(script)
    return next((p for p in patterns if any(_matches(words, p.split()) for words in programs)), None)


def _matches(words: Words, pattern: Sequence[str]) -> bool:
    return len(words) >= len(pattern) and all(map(_could_be, words, pattern))


def _could_be(word: str, pattern: str) -> bool:
    if UNKNOWN not in word:
        return fnmatch.fnmatchcase(word, pattern)
    shape = "".join(
        ".*" if piece == UNKNOWN else re.escape(piece) for piece in re.split(f"({UNKNOWN})", word)
    )
    return re.fullmatch(shape, pattern, re.DOTALL) is not None


def _programs(command: SimpleCommand, deep: int) -> Iterator[Words]:
    words = command.words[:_MOST_WORDS]
    if not words or deep > 6:
        return
    name = _name(words[0])
    yield from _by_name(name, words[1:])
    if name in _SHELLS or name in ("eval", "trap", "alias", "source", "."):
        for script in _scripts(name, words[1:], command.stdin):
            yield from _within(script, deep)
    elif name in _WRAPPERS or _INTERPRETERS.fullmatch(name):
        yield from _wrapped(command, name, deep)
    elif name == "find":
        for at, word in enumerate(words):
            if word in ("-exec", "-execdir", "-ok", "-okdir"):
                yield from _programs(SimpleCommand(_filled(words[at + 1 :])), deep + 1)


def _by_name(name: str, rest: list[str]) -> Iterator[Words]:
    """The program under its one name, and as it was written."""
    yield (name, *rest)
    plain = [word for word in rest if not word.startswith("-")]
    if plain != rest:
        yield (name, *plain)
    if UNKNOWN in name:
        yield from _whatever_it_is(name, rest)
    elif name in _MANAGERS or name in ("deno", "turbo"):
        yield from _by_manager(name, rest)
    elif name in ("npm-run-all", "npm-run-all2", "run-p", "run-s"):
        yield from (("npm", "run", word) for word in plain)
    elif name in _VERBS:
        yield from _by_verb(name, rest)


def _whatever_it_is(name: str, rest: list[str]) -> Iterator[Words]:
    """A program whose name is not known counts as one of those that the rest of its words speak for."""
    if not any(UNKNOWN not in word for word in rest):
        return
    for manager in ("npm", "yarn"):
        if _could_be(name, manager) and any(word in _RUN or word == "start" for word in rest):
            yield from _by_manager(manager, rest)
    for program, verbs in _VERBS.items():
        if _could_be(name, program) and any(word in verbs for word in rest):
            yield from _by_verb(program, rest)


def _by_manager(name: str, rest: list[str]) -> Iterator[Words]:
    own = rest[: rest.index("--")] if "--" in rest else rest
    words = [word for word in own if not word.startswith("-")]
    for at, word in enumerate(words):
        if word in _RUN or (name == "turbo" and word in ("dev", "build", "start")):
            scripts = words[at + 1 :] or ([word] if name == "turbo" else [])
            yield from (("npm", "run", script) for script in scripts)
            return
        if word in _EXEC:
            yield from _suffixes(rest[rest.index(word) + 1 :])
            return
        if word in _OTHER_VERBS:
            return
        if name != "npm" or word in _OWN_SCRIPTS or UNKNOWN in word:
            yield ("npm", "run", word)
        if name not in ("npm", "deno", "turbo"):  # yarn and pnpm run programs of the project by their name
            yield from _suffixes([word, *rest[rest.index(word) + 1 :]], most=1)


def _by_verb(name: str, rest: list[str]) -> Iterator[Words]:
    if _ASKS_ONLY.intersection(rest):
        return
    verb = next((word for word in rest if word in _VERBS[name] or UNKNOWN in word), "dev")
    yield name, "dev" if verb == "serve" else verb


def _wrapped(command: SimpleCommand, name: str, deep: int) -> Iterator[Words]:
    """What a wrapper starts: any of its words may begin it, and a word with spaces may be a script."""
    rest = command.words[1:_MOST_WORDS]
    if name in ("xargs", "parallel"):
        rest = [*_filled(rest), UNKNOWN]
    yield from _suffixes(rest)
    for at, word in enumerate(rest):
        inner = _name(word)
        if inner in _SHELLS:
            for script in _scripts(inner, rest[at + 1 :], command.stdin):
                yield from _within(script, deep)
        elif any(space in word.strip() for space in " \t\n"):
            code = _INTERPRETERS.fullmatch(name) is not None
            for script in _started_by(word) if code else [word]:
                yield from _within(script, deep)
    if _INTERPRETERS.fullmatch(name) and command.stdin:
        for script in _started_by(command.stdin):
            yield from _within(script, deep)


def _suffixes(words: list[str], most: int = _MOST_SUFFIXES) -> Iterator[Words]:
    begins = [at for at, word in enumerate(words) if not word.startswith("-") and "=" not in word]
    for at in begins[:most]:
        yield from _by_name(_name(words[at]), words[at + 1 :])


def _scripts(name: str, rest: list[str], stdin: str | None) -> Iterator[str]:
    """Scripts that a shell or a builtin is given as text."""
    if name == "eval":
        yield " ".join(rest)
    elif name == "trap":
        yield from rest[:1]
    elif name == "alias":
        yield from (word.partition("=")[2] for word in rest)
    elif name in _SHELLS:
        for at, word in enumerate(rest):
            if re.fullmatch(r"[-+][a-zA-Z]*c[a-zA-Z]*", word) or word == "--command":
                yield from (script for script in rest[at + 1 :] if not script.startswith("-"))
                return
    if stdin and not any(not word.startswith("-") for word in rest if word != "/dev/stdin"):
        yield stdin


def _within(script: str, deep: int) -> Iterator[Words]:
    for command in simple_commands(script, deep + 1):
        yield from _programs(command, deep + 1)


def _started_by(code: str) -> Iterator[str]:
    """Texts in a program that it may hand to a shell, if it starts others at all."""
    if not _STARTS_OTHERS.search(code):
        return
    for found in _QUOTED.finditer(code):
        yield next(text for text in found.groups() if text is not None)
    for found in _LISTED.finditer(code):  # ["npm", "run", "dev"], and ("npm", ["run", "dev"])
        yield " ".join(re.findall(r"['\"]([^'\"\n]*)['\"]", found.group(1)))


def _filled(words: list[str]) -> list[str]:
    """`{}` stands for what the program is given."""
    return [word.replace("{}", UNKNOWN) for word in words]


def _name(word: str) -> str:
    """A program's own name: without its folder, a package's version, or the ending of a script."""
    name = word.removeprefix("npm:").rsplit("/", 1)[-1]
    name = re.sub(r"(?<=.)@[^/]*$", "", name)
    return re.sub(r"\.(?:[cm]?[jt]s|cmd|exe|bin)$", "", name)

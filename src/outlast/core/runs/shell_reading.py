"""A shell script taken apart into the simple commands it would run. Pure, total, and generous: it follows quotes,
substitutions, here-documents and variables as far as the text shows them, and marks what only the shell will know.

It reads for policies, not for running: a command in a branch that is never taken counts like any other.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

UNKNOWN: Final = "\0"  # stands in a word for what only running it would tell
_DEEPEST: Final = 8
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT: Final = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)\+?=(?P<value>.*)", re.DOTALL)
_RESERVED_WORDS: Final = "{ } ! if then elif else fi while until do done time coproc esac in function"
_RESERVED: Final = frozenset(_RESERVED_WORDS.split())
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


@dataclass(slots=True)
class SimpleCommand:
    """Words as the shell would give them to a program, without assignments and reserved words before it. `stdin`: what
    it is fed, where the script says so (a here-document, or `echo` before a pipe)."""

    words: list[str] = field(default_factory=list)
    stdin: str | None = None
    pipes: bool = False  # its output goes to the next command
    source: "SimpleCommand | None" = None  # the command before the pipe


def simple_commands(script: str, deep: int = 0) -> list[SimpleCommand]:
    """Every simple command of a script, substitutions included, in no promised order; nested too deeply, the rest of
    the text as one command."""
    if deep > _DEEPEST:
        return [SimpleCommand(re.sub(r"[\"'`\\$();&|]", " ", script).split())]
    reader = _Reader(script, deep)
    reader.read()
    return reader.found


class _Reader:
    """One pass over a script. Nothing raises: what is not closed ends with the text."""

    def __init__(self, text: str, deep: int) -> None:
        self.text, self.at, self.deep = text, 0, deep
        self.found: list[SimpleCommand] = []
        self.variables: dict[str, str] = {}
        self.word: str | None = None
        self.bare = True  # nothing of the word is quoted
        self.now = SimpleCommand()
        self.dropped = 0  # words to come that are targets of redirections
        self.here: list[tuple[SimpleCommand, str, bool]] = []  # here-documents whose bodies follow the line
        self.before: SimpleCommand | None = None

    def read(self) -> None:
        while self.at < len(self.text):
            self._step(self.text[self.at])
        self._end_command()
        for command in self.found:  # here-documents of a line are read after its commands
            if command.source is not None and command.stdin is None:
                command.stdin = printed(command.source)

    def _step(self, char: str) -> None:
        if char in " \t\r":
            self._end_word()
            self.at += 1
        elif char == "\n":
            self._end_command()
            self.at += 1
            self._bodies()
        elif char == "#" and self.word is None:
            self.at = self._find("\n")
        elif char in "<>" or (char == "&" and self.text[self.at : self.at + 2] == "&>"):
            self._redirect()
        elif char in ";&|()":
            self._operator(char)
        else:
            self._add(*self._piece(char))

    def _operator(self, char: str) -> None:
        double = self.text[self.at : self.at + 2]
        pipes = char == "|" and double != "||"
        self._end_command(pipes=pipes)
        self.at += 2 if double in ("&&", "||", ";;", "|&") else 1

    def _piece(self, char: str) -> tuple[str, bool]:
        """The next piece of a word: (its text, whether it stood in quotes)."""
        if char == "\\":
            self.at += 2
            escaped = self.text[self.at - 1 : self.at]
            return ("", False) if escaped == "\n" else (escaped, True)
        if char == "'":
            return self._single(), True
        if char == '"':
            return self._double(), True
        if char == "$":
            return self._dollar()
        if char == "`":
            return self._backquoted(), False
        self.at += 1
        return char, False

    def _add(self, piece: str, quoted: bool) -> None:
        if not quoted and self.bare and any(space in piece for space in " \t\n"):  # a variable's words
            head, *rest = piece.split()
            self.word = (self.word or "") + head
            for one in rest:
                self._end_word()
                self.word = one
            return
        if piece or quoted:
            self.word = (self.word or "") + piece
            self.bare = self.bare and not quoted

    def _single(self) -> str:
        start = self.at + 1
        end = self.text.find("'", start)
        end = len(self.text) if end < 0 else end
        self.at = end + 1
        return self.text[start:end]

    def _double(self) -> str:
        pieces: list[str] = []
        self.at += 1
        while self.at < len(self.text) and (char := self.text[self.at]) != '"':
            if char == "\\":
                after = self.text[self.at + 1 : self.at + 2]
                pieces.append("" if after == "\n" else after if after in '"\\$`' else char + after)
                self.at += 2
            elif char == "$":
                pieces.append(self._dollar()[0])
            elif char == "`":
                pieces.append(self._backquoted())
            else:
                pieces.append(char)
                self.at += 1
        self.at += 1
        return "".join(pieces)

    def _dollar(self) -> tuple[str, bool]:
        rest = self.text[self.at + 1 : self.at + 2]
        if rest == "(":
            self.at += 2
            self._nested(self._balanced("(", ")"))
            return UNKNOWN, False
        if rest == "{":
            self.at += 2
            inner = self._balanced("{", "}")
            for start in re.finditer(r"\$\(|`", inner):
                self._nested(inner[start.start() :])
            return self.variables.get(inner, UNKNOWN), False
        if rest == "'":
            self.at += 1
            return _unescaped(self._single_escaped()), True
        if rest == '"':
            self.at += 1
            return self._double(), True
        name = _NAME.match(self.text, self.at + 1)
        if name is not None:
            self.at = name.end()
            return self.variables.get(name.group(), UNKNOWN), False
        self.at += 2 if rest and rest in "@*#?-$!0123456789" else 1
        return (UNKNOWN, False) if rest and rest in "@*#?-$!0123456789" else ("$", True)

    def _single_escaped(self) -> str:
        found = re.compile(r"'(?:[^'\\]|\\.)*'?", re.DOTALL).match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return found.group().strip("'")

    def _backquoted(self) -> str:
        found = re.compile(r"`((?:[^`\\]|\\.)*)`?", re.DOTALL).match(self.text, self.at)
        assert found is not None
        self.at = max(found.end(), self.at + 1)
        self._nested(re.sub(r"\\([`\\$])", r"\1", found.group(1)))
        return UNKNOWN

    def _balanced(self, opening: str, closing: str) -> str:
        """The text up to the closing mark that belongs to one already read; quotes hide marks."""
        start, depth = self.at, 1
        quote = ""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\\" and quote != "'":
                self.at += 1
            elif quote:
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
            elif char == opening:
                depth += 1
            elif char == closing:
                depth -= 1
                if depth == 0:
                    self.at += 1
                    return self.text[start : self.at - 1]
            self.at += 1
        self.at = len(self.text)
        return self.text[start:]

    def _nested(self, script: str) -> None:
        self.found += simple_commands(script, self.deep + 1)

    def _redirect(self) -> None:
        if self.word is not None and self.word.isdigit() and self.bare:
            self.word = None  # the number of a descriptor
        self._end_word()
        mark = re.compile(r"&>>?|<<<|<<-?|<>|<&|<\(|>\(|>>|>&|>\||<|>").match(self.text, self.at)
        assert mark is not None
        self.at = mark.end()
        match mark.group():
            case "<(" | ">(":
                self._nested(self._balanced("(", ")"))
                self._add(UNKNOWN, True)
            case "<<" | "<<-":
                quoted, delimiter = self._delimiter()
                self.here.append((self.now, delimiter, quoted))
            case "<<<":
                self.now.stdin = self._target()
            case _:
                self._target()

    def _target(self) -> str:
        """The word after a redirection, taken from where the reader is."""
        while self.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        pieces: list[str] = []
        while self.at < len(self.text) and (char := self.text[self.at]) not in " \t\r\n;&|()<>":
            pieces.append(self._piece(char)[0])
        if self.text[self.at : self.at + 1] in ("&", "-") and not pieces:
            self.at += 1
        return "".join(pieces)

    def _delimiter(self) -> tuple[bool, str]:
        while self.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        quoted = self.text[self.at : self.at + 1] in ("'", '"', "\\")
        return quoted, self._target()

    def _bodies(self) -> None:
        """What here-documents of the line before hold; substitutions in an unquoted one are run as well."""
        for command, delimiter, quoted in self.here:
            body: list[str] = []
            while self.at < len(self.text):
                end = self._find("\n")
                line = self.text[self.at : end]
                self.at = end + 1
                if line.strip("\t") == delimiter:
                    break
                body.append(line)
            command.stdin = "\n".join(body)
            if not quoted:
                for start in re.finditer(r"\$\(|`", command.stdin):
                    self._nested(command.stdin[start.start() :].partition("\n\n")[0])
        self.here = []

    def _find(self, char: str) -> int:
        at = self.text.find(char, self.at)
        return len(self.text) if at < 0 else at

    def _end_word(self) -> None:
        if self.word is not None:
            self.now.words += _braces(self.word) if self.bare else [self.word]
        self.word, self.bare = None, True

    def _end_command(self, *, pipes: bool = False) -> None:
        self._end_word()
        command, self.now = self.now, SimpleCommand()
        command.pipes = pipes
        self._lead(command.words)
        if command.words:
            if self.before is not None and self.before.pipes:
                command.source = self.before
            self.found.append(command)
        self.before = command if command.words or not pipes else self.before

    def _lead(self, words: list[str]) -> None:
        """Take reserved words and assignments from the front, and remember what they assign."""
        while words:
            assigned = _ASSIGNMENT.fullmatch(words[0])
            if assigned is not None:
                self.variables[assigned["name"]] = assigned["value"]
            elif words[0] == "function" and len(words) > 1:
                del words[1]
            elif words[0] not in _RESERVED:
                break
            del words[0]
        if words and words[0] in ("export", "declare", "local", "readonly", "typeset"):
            for word in words[1:]:
                if (assigned := _ASSIGNMENT.fullmatch(word)) is not None:
                    self.variables[assigned["name"]] = assigned["value"]


def printed(command: SimpleCommand) -> str | None:
    """What a command writes, where its words tell: `echo`, `printf`, and `cat` of what it was fed."""
    match command.words:
        case ["echo", *rest]:
            while rest and re.fullmatch(r"-[neE]+", rest[0]):
                del rest[0]
            return _unescaped(" ".join(rest))
        case ["printf", shape, *rest]:
            texts: Iterator[str] = iter(rest)
            filled = re.sub(r"%[-+ #0-9.]*[a-zA-Z]", lambda _: next(texts, ""), _unescaped(shape))
            return " ".join([filled, *texts])
        case ["cat"] | ["cat", "-"]:
            return command.stdin
        case _:
            return None


def _unescaped(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        code = found.group(1)
        if code[0] == "x" and len(code) > 1:
            return chr(int(code[1:], 16))
        if code[0] in "01234567":
            return chr(int(code, 8) % 256)
        return _ESCAPES.get(code, code)

    return re.sub(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", one, text, flags=re.DOTALL)


def _braces(word: str) -> list[str]:
    """`{a,b}` and `x{a,b}y` as the words they unfold to; at most a few."""
    found = re.search(r"\{([^{}]*,[^{}]*)\}", word)
    if found is None:
        return [word]
    before, after = word[: found.start()], word[found.end() :]
    return [f"{before}{one}{after}" for one in found.group(1).split(",")][:32]

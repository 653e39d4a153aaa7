"""Parses a shell script into the simple commands that it would run. No input or output.

tree-sitter parses the grammar; this module gives each command its words as the shell would, follows variables, pipes
and here-documents as far as the text shows them, and marks values that only the shell knows. A command in a branch that
is never taken counts like any other.

Bounds: a script of `LONGEST` characters, and a `Budget` of steps (a character read, an operation of the parser or a
node of the tree each), 20 for each character. Beyond either, `TooManySteps` is raised. A script of 20,000 characters
takes 10 to 150 ms: call it in a thread.
"""

import re
from collections.abc import Iterator
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Final

from outlast.base.records import dataclass
from outlast.base.syntax_trees import Budget as StepBudget
from outlast.base.syntax_trees import TooManySteps, parse_within

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

UNKNOWN: Final = "\ue000"  # in a word: a value that only running the script would show
LONGEST: Final = 20_000  # characters of one script
_MAX_CPU_S: Final = 0.1  # of one parse
_MAX_PIPES: Final = 2_000  # the parser's time grows with their square, without a callback in between
_LONGEST_VALUE: Final = 4_000  # characters of a variable
_DEEPEST_PIPES: Final = 50
_LOOSE_WORDS: Final = 12
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}
_PARTS: Final = frozenset(  # statements that pass their own input on to the commands in them
    {
        "compound_statement",
        "subshell",
        "list",
        "negated_command",
        "if_statement",
        "elif_clause",
        "else_clause",
        "while_statement",
        "for_statement",
        "c_style_for_statement",
        "case_statement",
        "case_item",
        "do_group",
    }
)
_REDIRECTIONS: Final = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})


class Budget(StepBudget):
    """The steps that parsing a script may take, nested scripts included."""

    def __init__(self, script: str) -> None:
        super().__init__(20 * len(script) + 20_000)


@dataclass(slots=True)
class SimpleCommand:
    """Words as the shell would pass them to a program, without the assignments before it. `stdin`: its input, if the
    script shows it (a here-document, or `echo` before a pipe). `loose`: one of many guesses at a command in a script
    with an error, which passes no text on to others."""

    words: list[str] = field(default_factory=list)
    stdin: str | None = None
    loose: bool = False


_Input = str | SimpleCommand | None  # a text in the script, the command before a pipe, or None if unknown


def simple_commands(script: str, budget: Budget) -> list[SimpleCommand]:
    """Every simple command of a script, including those in substitutions, in no guaranteed order. A script with an
    error is also parsed loosely: any of its words may begin a command. Raises TooManySteps."""
    if len(script) > LONGEST or script.count("|") > _MAX_PIPES:
        raise TooManySteps
    tree = _parse(script, budget)
    reader = _Reader(script, budget)
    reader.read(tree.root_node)
    if tree.root_node.has_error:
        reader.found += _loose(script, budget)
    return reader.found


def _parse(script: str, budget: Budget) -> "Tree":
    """The tree of a script; its offsets count characters."""
    # The grammar's scanner looks up every character in C's ASCII tables: one beyond ASCII would crash the process.
    data = re.sub(r"[^\x00-\x7f]", "_", script).encode()
    return parse_within(_language(), data, budget, _MAX_CPU_S)


@cache
def _language() -> "Language":
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())


class _Reader:
    """One walk over the tree, in the order of the text and without recursion into it."""

    def __init__(self, script: str, budget: Budget) -> None:
        self.script, self.budget = script, budget
        self.found: list[SimpleCommand] = []
        self.variables: dict[str, str] = {}
        self.waiting: list[tuple[Node, _Input]] = []

    def read(self, root: "Node") -> None:
        self.waiting.append((root, None))
        while self.waiting:
            node, fed = self.waiting.pop()
            self._visit(node, fed)

    def _visit(self, node: "Node", fed: _Input) -> None:
        self.budget.spend()
        match node.type:
            case "command" | "pipeline" | "redirected_statement":
                self._statement(node, fed, ())
            case "variable_assignment":
                self._assign(node)
                self._wait(node.named_children, None)
            case "declaration_command" | "unset_command":
                self.found.append(SimpleCommand(self._text(node).split()))
                self._wait(node.named_children, None)
            case _:
                if node.type == "for_statement" and (name := node.child_by_field_name("variable")):
                    self.variables.pop(self._text(name), None)
                self._wait(node.named_children, fed if node.type in _PARTS else None)

    def _wait(self, nodes: "list[Node]", fed: _Input) -> None:
        self.waiting += [(node, fed) for node in reversed(nodes) if node.child_count]

    def _statement(self, node: "Node", fed: _Input, added: "tuple[Node, ...]", deep: int = 0) -> SimpleCommand | None:
        """Read a statement; returns the command whose output it prints, if there is one. `added`: words of its command
        that occur elsewhere."""
        self.budget.spend()
        if node.type == "command":
            return self._command(node, fed, added)
        if node.type == "redirected_statement" and deep < _DEEPEST_PIPES:
            return self._redirected(node, fed, deep)
        if node.type == "pipeline" and deep < _DEEPEST_PIPES:
            last = None
            for child in node.named_children:
                last = self._statement(child, fed, added, deep + 1)
                fed, added = last, ()
            return last
        self._wait([node] if deep < _DEEPEST_PIPES else node.named_children, fed)
        return None

    def _command(self, node: "Node", fed: _Input, added: "tuple[Node, ...]") -> SimpleCommand:
        command = SimpleCommand()
        inner = [*node.named_children, *added]
        for child in inner:
            self.budget.spend()
            if child.type == "variable_assignment":
                self._assign(child)
            elif child.type == "herestring_redirect":
                fed = self._target(child)
            elif child.type not in _REDIRECTIONS:
                command.words += self._words(child)
        command.stdin = printed(fed) if isinstance(fed, SimpleCommand) else fed
        if command.words:
            self.found.append(command)
        self._wait(inner, None)
        return command

    def _redirected(self, node: "Node", fed: _Input, deep: int) -> SimpleCommand | None:
        """A statement with redirections. The grammar keeps text after a here-document's mark on its line (more words, a
        pipe) with the mark."""
        added: list[Node] = []
        after: list[Node] = []
        others: list[Node] = []
        for redirection in node.children_by_field_name("redirect"):
            self.budget.spend()
            if redirection.type == "herestring_redirect":
                fed = self._target(redirection)
            if redirection.type != "heredoc_redirect":
                others.append(redirection)
                continue
            added += redirection.children_by_field_name("argument")
            for child in redirection.named_children:
                if child.type == "heredoc_body":
                    fed = self._text(child)
                (after if child.type == "pipeline" else others).append(child)
        body = node.child_by_field_name("body")
        last = self._statement(body, fed, tuple(added), deep + 1) if body is not None else None
        for child in after:
            last = self._statement(child, last, (), deep + 1)
        self._wait(others, None)
        return last

    def _target(self, redirection: "Node") -> str:
        return "".join(word for child in redirection.named_children for word in self._words(child))

    def _assign(self, node: "Node") -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or name.type != "variable_name":
            return
        text = "" if value is None else " ".join(self._words(value))
        if any(child.type == "+=" for child in node.children):
            text = self.variables.get(self._text(name), "") + text
        self.variables[self._text(name)] = text if len(text) <= _LONGEST_VALUE else UNKNOWN

    def _words(self, node: "Node") -> list[str]:
        """The words that an argument becomes: one, or more if an unquoted variable holds spaces or braces list
        several."""
        words: list[str] = [""]
        bare = True
        for text, kind in self._pieces(node):
            self.budget.spend(1 + len(text))
            bare = bare and kind != "quoted"
            if kind == "value" and (split := text.split()) != [text]:
                words[-1] += split[0] if split else ""
                words += split[1:]
            else:
                words[-1] += text
        if not bare:
            return words
        return [one for word in words if word for one in _unfolded(word)]

    def _pieces(self, node: "Node") -> Iterator[tuple[str, str]]:
        """Pieces of an argument: (their text, "bare", "quoted" or the "value" of a variable)."""
        if node.type == "command_name" and node.named_child_count == 1:
            node = node.named_children[0]
        match node.type:
            case "concatenation":
                yield from self._joined(node, node.start_byte, node.end_byte)
            case "string" | "translated_string":
                opening = 2 if node.type == "translated_string" else 1
                yield "", "quoted"
                for text, kind in self._joined(node, node.start_byte + opening, node.end_byte - 1):
                    inner = re.sub(r'\\(["\\$`]|\n)', _kept, text) if kind == "bare" else text
                    yield inner, "quoted"
            case "raw_string":
                yield self._text(node)[1:-1], "quoted"
            case "ansi_c_string":
                yield unescaped(self._text(node)[2:-1]), "quoted"
            case "simple_expansion" | "expansion":
                yield self._value(node), "value"
            case "command_substitution" | "process_substitution" | "arithmetic_expansion":
                yield UNKNOWN, "value"
            case _:
                yield re.sub(r"\\(.)", _kept, self._text(node), flags=re.DOTALL), "bare"

    def _joined(self, node: "Node", start: int, end: int) -> Iterator[tuple[str, str]]:
        """The pieces between two offsets: those of the node's children, and the text between them unchanged."""
        quoted = node.type in ("string", "translated_string")
        for child in node.named_children:
            self.budget.spend()
            if quoted and child.type == "string_content":
                continue
            if child.start_byte > start:
                yield self._slice(start, child.start_byte), "bare"
            if child.type == "concatenation":
                yield self._text(child), "bare"  # the grammar does not define it in other nodes
            else:
                yield from self._pieces(child)
            start = child.end_byte
        if end > start:
            yield self._slice(start, end), "bare"

    def _value(self, node: "Node") -> str:
        named = node.named_children
        if len(named) == 1 and named[0].type == "variable_name" and node.child_count <= 3:
            return self.variables.get(self._text(named[0]), UNKNOWN)
        return UNKNOWN

    def _text(self, node: "Node") -> str:
        return self._slice(node.start_byte, node.end_byte)

    def _slice(self, start: int, end: int) -> str:
        self.budget.spend(1 + (end - start) // 16)
        return self.script[start:end]


def _kept(found: re.Match[str]) -> str:
    return "" if found.group(1) == "\n" else found.group(1)


def _loose(script: str, budget: Budget) -> Iterator[SimpleCommand]:
    """Commands of a script whose quotes and brackets do not show where commands begin: any word may begin one."""
    text = re.sub(r"\\\n|[\"'\\]", "", re.sub(r"\$\{?[\w@*#?!-]+\}?", UNKNOWN, script))
    for part in re.split(r"[;\n|&()<>`]", text):
        words = re.sub(r"[{},]", " ", part).split()
        for at in range(len(words)):
            budget.spend(_LOOSE_WORDS)
            yield SimpleCommand(words[at : at + _LOOSE_WORDS], loose=True)


def printed(command: SimpleCommand) -> str | None:
    """The output of a command, if its words show it: `echo`, `printf`, and `cat` of its input."""
    match command.words:
        case ["echo", *rest]:
            while rest and re.fullmatch(r"-[neE]+", rest[0]):
                del rest[0]
            return unescaped(" ".join(rest))
        case ["printf", shape, *rest]:
            texts: Iterator[str] = iter(rest)
            filled = re.sub(r"%[-+ #0-9.]*[a-zA-Z]", lambda _: next(texts, ""), unescaped(shape))
            return " ".join([filled, *texts])
        case ["cat"] | ["cat", "-"]:
            return command.stdin
        case _:
            return None


def unescaped(text: str) -> str:
    """A text with the escapes of `echo` and `$'…'` resolved."""

    def one(found: re.Match[str]) -> str:
        code = found.group(1)
        if code[0] == "x" and len(code) > 1:
            return chr(int(code[1:], 16))
        if code[0] in "01234567":
            return chr(int(code, 8) % 256)
        return _ESCAPES.get(code, code)

    return re.sub(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", one, text, flags=re.DOTALL)


def _unfolded(word: str) -> list[str]:
    """The words that `{a,b}` and `x{a,b}y` expand to; at most 32."""
    end = word.find("}")
    start = word.rfind("{", 0, end) if end >= 0 else -1
    if start < 0 or "," not in word[start:end]:
        return [word]
    before, after = word[:start], word[end + 1 :]
    return [f"{before}{one}{after}" for one in word[start + 1 : end].split(",")[:32]]

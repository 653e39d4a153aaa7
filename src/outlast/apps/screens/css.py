"""A minimal CSS parser to find rules in a style sheet without changing the text around them. Pure.

Bounds: a style sheet has at most 500 KB (its file's bound); time grows with its length."""

import re
from collections.abc import Container, Iterator
from typing import Final

from outlast.base.records import dataclass

# As in CSS, an unclosed comment ends with the style sheet and an unclosed string with its line, so the same end is
# never searched twice.
_QUIET: Final = re.compile(r"\s+|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LEAP: Final = re.compile(r"""/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?""", re.DOTALL)
COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule with its block: `text` is all of it, `body` the text between its braces; `end` its end offset."""

    selector: str
    body: str
    text: str
    end: int


def read_rules(css: str) -> list[Rule] | None:
    """The rules of a piece of a style sheet, and its statements that end in a semicolon (with an empty selector). None
    if a brace is missing."""
    rules, at = [], _skip(css, 0)
    while at < len(css):
        rule = _rule(css, at)
        if rule is None:
            return None
        rules.append(rule)
        at = _skip(css, rule.end)
    return rules


def rules_from(css: str, start: int, selectors: Container[str]) -> int:
    """The end of the consecutive rules with one of these selectors that follow `start`."""
    end = start
    while True:
        at = _skip(css, end)
        rule = _rule(css, at) if at < len(css) else None
        if rule is None or rule.selector not in selectors:
            return end
        end = rule.end


def declarations(body: str) -> Iterator[tuple[str, str]]:
    """(name, value) of each declaration in a rule's body, without nested rules."""
    at = 0
    body = COMMENT.sub(" ", body)
    while at < len(body):
        stop, what = _stop(body, at)
        if what == "{":
            closed = _close(body, stop)
            at = len(body) if closed is None else closed
            continue
        name, colon, value = body[at:stop].partition(":")
        if colon and name.strip() and value.strip():
            yield name.strip(), " ".join(value.split())
        at = stop + 1


def _rule(css: str, at: int) -> Rule | None:
    stop, what = _stop(css, at)
    if what == ";":
        return Rule("", "", css[at : stop + 1], stop + 1)
    end = _close(css, stop) if what == "{" else None
    if end is None:
        return None
    selector = " ".join(COMMENT.sub(" ", css[at:stop]).split())
    return Rule(selector, css[stop + 1 : end - 1], css[at:end], end)


def _stop(css: str, at: int) -> tuple[int, str]:
    """The offset of the next brace or semicolon, and the character; the end and an empty string if there is none."""
    while at < len(css):
        leap = _LEAP.match(css, at)
        if leap:
            at = leap.end()
        elif css[at] in "{};":
            return at, css[at]
        else:
            at += 1
    return len(css), ""


def _close(css: str, opening: int) -> int | None:
    """The offset after the brace that closes the one at `opening`, or None if it is unclosed."""
    depth, at = 0, opening
    while True:
        at, what = _stop(css, at)
        if not what:
            return None
        depth += {"{": 1, "}": -1}.get(what, 0)
        at += 1
        if depth == 0:
            return at


def _skip(css: str, at: int) -> int:
    while quiet := _QUIET.match(css, at):
        at = quiet.end()
    return at

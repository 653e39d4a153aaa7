"""May this tool call run: allow, ask a person, or deny. Pure; rules come from the settings and from what people
allowed.

A rule names calls by globs over their arguments, or by the programs that a shell command would run, or both.
"""

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import orjson

from outlast.core.runs.shell_commands import runs_one_of

Decision = Literal["allow", "ask", "deny"]


class Rule(Protocol):
    """A policy rule as configured: globs over profile, tool and canonical arguments; programs that are run."""

    @property
    def profile(self) -> str: ...
    @property
    def tool(self) -> str: ...
    @property
    def arguments(self) -> str: ...
    @property
    def commands(self) -> Sequence[str]: ...
    @property
    def decision(self) -> str: ...
    @property
    def reason(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Grant:
    """Something a person allowed for a thread: this tool with exactly these (canonical) arguments' shape, as a glob."""

    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Verdict:
    decision: Decision
    reason: str = ""


def canonical(arguments: Mapping[str, Any]) -> str:
    """Arguments as one comparable text: a single string argument is itself, more are JSON with sorted keys."""
    values = list(arguments.values())
    if len(values) == 1 and isinstance(values[0], str):
        return values[0]
    return orjson.dumps(dict(arguments), option=orjson.OPT_SORT_KEYS).decode()


def decide(
    rules: Sequence[Rule], grants: Sequence[Grant], profile: str, tool: str, arguments: Mapping[str, Any]
) -> Verdict:
    """The first rule that matches decides; none: allowed. A grant turns ask into allow, never a denial."""
    text = canonical(arguments)
    command = str(arguments.get("command", text))
    rule = next((r for r in rules if _applies(r, profile, tool, (text, command))), None)
    if rule is None or rule.decision == "allow":
        return Verdict("allow")
    if rule.decision == "deny":
        return Verdict("deny", rule.reason or f"{_named(rule)} denies this call.")
    if any(grant.tool == tool and grant.arguments in ("*", text) for grant in grants):
        return Verdict("allow", "A person allowed this for the thread.")
    return Verdict("ask", rule.reason or f"{_named(rule)} asks a person.")


def _named(rule: Rule) -> str:
    if rule.commands:
        return f"The policy for {rule.tool} that runs {', '.join(rule.commands)}"
    return f"The policy for {rule.tool} with arguments like {rule.arguments!r}"


def _applies(rule: Rule, profile: str, tool: str, texts: tuple[str, ...]) -> bool:
    return (
        fnmatch.fnmatchcase(profile, rule.profile)
        and fnmatch.fnmatchcase(tool, rule.tool)
        and any(fnmatch.fnmatchcase(text, rule.arguments) for text in texts)
        and (not rule.commands or runs_one_of(texts[1], rule.commands) is not None)
    )

"""Decides whether a tool call may run: allow, ask a user, or deny. Pure; rules come from the settings and from users'
grants.

A rule names calls by globs over their arguments, by the programs that a shell command would run, or by both. Judging a
call takes up to a second of processor time, for the longest and most unusual command: call `judge` in a thread, outside
transactions.
"""

import fnmatch
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

import orjson

from outlast.base.records import dataclass
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.runs.shell_commands import Words, first_match, programs_of

Decision = Literal["allow", "ask", "deny"]
# Tools that affect more than the thread, or other people's work, are never allowed for a whole thread.
DECIDED_EACH_TIME: Final = frozenset({"publish_module"})


class Grant(NamedTuple):
    """A call that a user allowed for a thread: this tool with exactly these (canonical) arguments, as a glob."""

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


@dataclass(frozen=True, slots=True)
class Judgement:
    """The decision of the rules on one call, before grants are checked. `text`: its arguments, canonical."""

    tool: str
    text: str
    verdict: Verdict

    def after(self, grants: Sequence[Grant]) -> Verdict:
        """The verdict after grants: a grant turns ask into allow, never a denial."""
        if self.verdict.decision != "ask":
            return self.verdict
        if any(grant.tool == self.tool and grant.arguments in ("*", self.text) for grant in grants):
            return Verdict("allow", "A user allowed this for the thread.")
        return self.verdict


def judge(
    rules: Sequence[PolicyRule], profile: str, tool: str, arguments: Mapping[str, Any], ask: str = ""
) -> Judgement:
    """The first matching rule decides. Without one a user is asked if the tool gives a reason (`ask`); otherwise the
    call is allowed."""
    text = canonical(arguments)
    call = _Call(profile, tool, text, _command(arguments, text))
    rule = next((one for one in rules if call.matches(one)), None)
    if rule is None:
        verdict = Verdict("ask", ask) if ask else Verdict("allow")
    elif rule.decision == "allow":
        verdict = Verdict("allow")
    elif rule.decision == "deny":
        verdict = Verdict("deny", rule.reason or f"{_named(rule)} denies this call.")
    else:
        verdict = Verdict("ask", rule.reason or f"{_named(rule)} needs a user's approval.")
    return Judgement(tool, text, verdict)


def _command(arguments: Mapping[str, Any], text: str) -> str:
    """The shell command of a call: its argument of that name, or its only text; empty if it has none."""
    if "command" in arguments:
        return str(arguments["command"])
    return text if list(arguments.values()) == [text] else ""


@dataclass(frozen=True)
class _Call:
    """A call checked against the rules. Its command is parsed once, when the first rule asks for its programs."""

    profile: str
    tool: str
    text: str
    command: str

    @cached_property
    def programs(self) -> Sequence[Words]:
        return programs_of(self.command)

    def matches(self, rule: PolicyRule) -> bool:
        texts = (self.text, self.command) if self.command else (self.text,)
        return (
            fnmatch.fnmatchcase(self.profile, rule.profile)
            and fnmatch.fnmatchcase(self.tool, rule.tool)
            and any(fnmatch.fnmatchcase(text, rule.arguments) for text in texts)
            and (not rule.commands or first_match(self.programs, rule.commands) is not None)
        )


def _named(rule: PolicyRule) -> str:
    if rule.commands:
        return f"The policy for {rule.tool} that runs {', '.join(rule.commands)}"
    return f"The policy for {rule.tool} with arguments like {rule.arguments!r}"

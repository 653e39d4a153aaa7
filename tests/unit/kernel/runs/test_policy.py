"""May this call run? Playbooks of rules, grants and the traps of globs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from outlast.kernel.runs.policy import Grant, Verdict, canonical, judge
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.settings import Settings


def rule(decision: str, tool: str = "*", arguments: str = "*", profile: str = "*") -> PolicyRule:
    return PolicyRule(profile=profile, tool=tool, arguments=arguments, decision=decision)  # type: ignore[arg-type]


def decide(rules: Sequence[PolicyRule], grants: list[Grant], profile: str, tool: str, arguments: Any) -> Verdict:
    return judge(rules, profile, tool, arguments).after(grants)


NO_RM = [rule("deny", "terminal", "*rm -rf*"), rule("ask", "terminal", "rm *")]


@pytest.mark.parametrize(
    ("rules", "tool", "arguments", "decision"),
    [
        ([], "terminal", {"command": "ls"}, "allow"),
        ([rule("ask")], "terminal", {"command": "ls"}, "ask"),
        ([rule("ask", "write*")], "terminal", {"command": "ls"}, "allow"),
        ([rule("ask", "term*")], "terminal", {"command": "ls"}, "ask"),
        ([rule("allow", "terminal", "ls*"), rule("deny")], "terminal", {"command": "ls -l"}, "allow"),
        ([rule("allow", "terminal", "ls*"), rule("deny")], "terminal", {"command": "cat x"}, "deny"),
        ([rule("deny", profile="screen")], "terminal", {"command": "ls"}, "allow"),
        ([rule("deny", profile="ch*")], "terminal", {"command": "ls"}, "deny"),
        (NO_RM, "terminal", {"command": "rm -rf /"}, "deny"),
        (NO_RM, "terminal", {"command": "cd / && rm -rf ."}, "deny"),
        (NO_RM, "terminal", {"command": "echo hi\nrm -rf /"}, "deny"),
        (NO_RM, "terminal", {"command": "rm -rf /", "timeout_s": 5}, "deny"),
        (NO_RM, "terminal", {"command": "rm x", "timeout_s": 5}, "ask"),
        (NO_RM, "terminal", {"command": "RM -RF /"}, "allow"),
        (NO_RM, "run_code", {"code": "rm -rf /"}, "allow"),
        ([rule("deny", "run_code", "*os.system*")], "run_code",
         {"code": "import os\nos.system('x')", "language": "python"}, "deny"),
        ([rule("ask", "terminal", "git push")], "terminal", {"command": "git push --force"}, "allow"),
        ([rule("ask", "terminal", "git push*")], "terminal", {"command": "git push --force"}, "ask"),
        ([rule("ask", "terminal", "[[]x]")], "terminal", {"command": "[x]"}, "ask"),
    ],
)  # fmt: skip
def test_these_rules_say_this_of_that_call(
    rules: list[PolicyRule], tool: str, arguments: dict[str, Any], decision: str
) -> None:
    assert decide(rules, [], "chat", tool, arguments).decision == decision


def test_arguments_are_compared_as_one_text_whatever_their_order() -> None:
    assert canonical({"command": "ls"}) == "ls"
    assert canonical({"b": 1, "a": "x"}) == canonical({"a": "x", "b": 1}) == '{"a":"x","b":1}'
    assert canonical({"count": 1}) == '{"count":1}'
    assert canonical({}) == "{}"


DEV = [PolicyRule(tool="terminal", decision="deny", commands=("npm run dev", "next dev"), reason="It runs already.")]


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("cd app &&  npm   run dev --port 3001", "deny"),
        ("npx next", "deny"),
        ("npm run lint", "allow"),
        ("grep -n 'npm run dev' README.md", "allow"),
    ],
)
def test_a_rule_about_programs_looks_at_what_would_run_not_at_words(command: str, decision: str) -> None:
    verdict = decide(DEV, [], "chat", "terminal", {"command": command, "timeout_s": 5})
    assert verdict.decision == decision
    assert verdict.reason == ("It runs already." if decision == "deny" else "")


def test_a_rule_with_arguments_and_programs_needs_both() -> None:
    both = [PolicyRule(tool="terminal", decision="ask", arguments="*prod*", commands=("git push",))]
    assert decide(both, [], "chat", "terminal", {"command": "git push prod"}).decision == "ask"
    assert decide(both, [], "chat", "terminal", {"command": "git push"}).decision == "allow"
    assert decide(both, [], "chat", "terminal", {"command": "echo prod"}).decision == "allow"


@pytest.mark.parametrize("command", ["npm run dev", "rm -rf .next; next build", "sh -c 'vite --port 3001' &"])
def test_an_agent_of_screens_starts_no_dev_server_and_no_build_as_shipped(command: str) -> None:
    shipped = Settings().policy
    verdict = decide(shipped, [Grant("terminal", "*")], "screen", "terminal", {"command": command})
    assert verdict.decision == "deny"
    assert "tsc --noEmit" in verdict.reason
    assert decide(shipped, [], "chat", "terminal", {"command": command}).decision != "deny"


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf x", "rm -R x", "rm -fR x", "/bin/rm -Rf ~", "rm  -rf x", "rm x -r", "rm --recursive x", "sudo rm -r x",
        "find . -name x -delete", "find . -exec rm -r {} ;", "ls | xargs rm -rf", "git push", "git  push",
        "git -C a push", "git -c a=b --git-dir x push -f", "git reset HEAD~1 --hard", "git clean -fd", "mkfs.ext4 x",
        "dd of=x if=y", "shred -u x", "sh -c 'rm -r x'", "X=push; git $X",
    ],
)  # fmt: skip
@pytest.mark.parametrize("tool", ["terminal", "start_service"])
def test_what_deletes_or_rewrites_much_waits_for_a_person_however_it_is_written(command: str, tool: str) -> None:
    assert decide(Settings().policy, [], "chat", tool, {"command": command}).decision == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "rm x", "rm -f x", 'rm "$f"', "grep -rn 'rm -rf' .", "echo git push", "git status", "git commit -m 'git push'",
        "git reset x", "find . -name x", "ls -R", "echo 'dd if=x'", "cat > a.md <<'E'\nrun `rm -rf x`\nE",
    ],
)  # fmt: skip
def test_other_commands_and_words_about_these_are_allowed(command: str) -> None:
    assert decide(Settings().policy, [], "chat", "terminal", {"command": command}).decision == "allow"


def test_a_command_that_takes_too_many_steps_to_read_is_asked_for() -> None:
    command = "x=aa;" + "x=$x$x;" * 40 + "echo $x"
    assert decide(Settings().policy, [], "chat", "terminal", {"command": command}).decision == "ask"


ASK = [rule("ask", "terminal")]


@pytest.mark.parametrize(
    ("grant", "arguments", "decision"),
    [
        (Grant("terminal", "npm test"), {"command": "npm test"}, "allow"),
        (Grant("terminal", "npm test"), {"command": "npm test && rm -rf /"}, "ask"),
        (Grant("terminal", "npm *"), {"command": "npm install"}, "ask"),
        (Grant("terminal", "*"), {"command": "anything"}, "allow"),
        (Grant("run_code", "*"), {"command": "anything"}, "ask"),
        (Grant("terminal", '{"command":"ls","timeout_s":1}'), {"timeout_s": 1, "command": "ls"}, "allow"),
        (Grant("terminal", "ls"), {"command": "ls", "timeout_s": 1}, "ask"),
    ],
)
def test_a_grant_covers_exactly_what_was_allowed(grant: Grant, arguments: dict[str, Any], decision: str) -> None:
    assert decide(ASK, [grant], "chat", "terminal", arguments).decision == decision


def test_a_grant_never_beats_a_denial() -> None:
    verdict = decide([rule("deny", "terminal")], [Grant("terminal", "*")], "chat", "terminal", {"command": "ls"})
    assert verdict.decision == "deny"
    assert "denies" in verdict.reason


def test_the_reason_names_the_rule_and_never_the_arguments() -> None:
    verdict = decide([rule("ask", "term*", "*secret*")], [], "chat", "terminal", {"command": "cat secret-of-ada"})
    assert "term*" in verdict.reason
    assert "ada" not in verdict.reason

"""Which tool calls run, wait for a person, or are refused: the rules as a table, and those that are shipped."""

from dataclasses import dataclass
from typing import Literal

from outlast.base.settings.fields import setting


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One [[policy]] table. The first rule that matches decides; where none matches, the call is allowed."""

    decision: Literal["allow", "ask", "deny"] = setting("allow, ask (a person decides) or deny.")
    tool: str = setting("Tool name, or a glob. Every rule has one, unless it has a name.", "")
    profile: str = setting("Agent profile, or a glob.", "*")
    arguments: str = setting("Glob over the arguments as canonical JSON text.", "*")
    commands: tuple[str, ...] = setting(
        "Programs that the call's shell command would run, by their first words and options (npm run dev, git push, "
        "rm -r), however they are called; empty: whatever it runs.",
        (),
    )
    reason: str = setting("What the model is told, or the person asked; empty: the rule's own words.", "")
    name: str = setting(
        "The name of shipped rules: they get this decision, and allow switches them off. Stands alone with decision "
        "and reason.",
        "",
    )


SCREEN_POLICY: tuple[PolicyRule, ...] = (
    PolicyRule(
        name="screen-dev-server",
        profile="screen",
        tool="terminal",
        decision="deny",
        commands=(
            *(f"npm run {script}" for script in ("dev", "build", "start", "serve", "preview")),
            *(f"next {verb}" for verb in ("dev", "build", "start")),
            *(f"vite {verb}" for verb in ("dev", "build", "preview")),
        ),
        reason="Dev servers and builds are not started from here: the dev server runs already on port 3000 and shows "
        "every file as soon as it is written. To check the code, run ./node_modules/.bin/tsc --noEmit.",
    ),
)
PAGE_POLICY: tuple[PolicyRule, ...] = (
    PolicyRule(
        name="publish-module",
        tool="publish_module",
        decision="ask",
        reason="A published module is found and run by everything that works for the person from then on.",
    ),
)
_DESTRUCTIVE = {
    "delete-recursively": ("rm -r", "rm -R", "rm --r*", "find -delete"),
    "git-push": ("git push",),
    "git-discard": ("git reset --hard", "git clean"),
    "overwrite-disks": ("mkfs*", "dd", "shred"),
}
DESTRUCTIVE_POLICY: tuple[PolicyRule, ...] = tuple(
    PolicyRule(name=name, tool=tool, decision="ask", commands=commands)
    for name, commands in _DESTRUCTIVE.items()
    for tool in ("terminal", "start_service")
)
SHIPPED_POLICY = SCREEN_POLICY + PAGE_POLICY + DESTRUCTIVE_POLICY  # they stay below whatever is configured

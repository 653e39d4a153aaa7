"""Default rules for tool calls; configured rules come first."""

from outlast.kernel.runs.settings import PolicyRule

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
        reason="Dev servers and builds are not started from here: the dev server already runs on port 3000 and shows "
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
SHIPPED_POLICY = SCREEN_POLICY + PAGE_POLICY + DESTRUCTIVE_POLICY

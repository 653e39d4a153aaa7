"""Settings of runs, of agent profiles and of policies."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from outlast.base.records import dataclass
from outlast.base.settings.fields import setting


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One [[policy]] table. The first matching rule decides; if none matches, the call is allowed."""

    decision: Literal["allow", "ask", "deny"] = setting("allow, ask (a user decides) or deny.")
    tool: str = setting("Tool name, or a glob. Required unless the rule has a name.", "")
    profile: str = setting("Agent profile, or a glob.", "*")
    arguments: str = setting("Glob over the arguments as canonical JSON text.", "*")
    commands: tuple[str, ...] = setting(
        "Programs that the call's shell command would run, by their first words and options (npm run dev, git push, "
        "rm -r), in any spelling (default: any program).",
        (),
    )
    reason: str = setting("Reason shown to the model or to the user who decides (default: the rule's own text).", "")
    name: str = setting(
        "Name of shipped rules: they get this decision, and allow turns them off. Set it only together with decision "
        "and reason.",
        "",
    )


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Limits of a run; [profiles.<name>] overrides the first two."""

    max_steps: int = setting("Model turns in one run; then it ends.", 50, unit="steps", least=1, most=10_000)
    context_messages: int = setting(
        "Latest messages that the model reads as they are; older ones are summarized.",
        40,
        unit="messages",
        least=1,
        most=10_000,
    )
    context_tokens: int = setting(
        "Most tokens of a request spent on earlier messages; from 80 % of it on the oldest are summarized.",
        100_000,
        unit="tokens",
        least=1000,
    )
    summarize: bool = setting(
        "Summarize messages and steps that no longer fit; false: the model does not read the oldest messages.", True
    )
    abandoned_after_s: float = setting(
        "A run that works this long without a follower is cancelled.", 1800, unit="seconds", least=1
    )
    approval_pause_after_s: float = setting(
        "The sandbox of a run that waits this long for a user is paused.", 300, unit="seconds", least=0
    )
    paused_kill_after_s: float = setting(
        "After being paused this long the sandbox is removed; its files stay.", 86_400, unit="seconds", least=1
    )
    lease_s: float = setting(
        "A worker that has not renewed its lease for this long loses its run to another.",
        15.0,
        unit="seconds",
        least=0.5,
        most=3600,
    )
    heartbeat_s: float = setting("Interval of a worker's lease renewals.", 5.0, unit="seconds", least=0.1, most=1800)
    max_concurrent: int = setting("Runs that one server works on at a time.", 200, unit="runs", least=1)
    cancel_force_s: float = setting(
        "A cancelled run whose model or tool does not stop is ended after this.",
        1.5,
        unit="seconds",
        least=0.05,
        most=1.9,
    )


@dataclass(frozen=True, slots=True)
class ProfileSettings:
    """One [profiles.<name>] table: overrides of [runs] for one agent profile."""

    max_steps: int | None = setting("Overrides runs.max_steps.", None, unit="steps", least=1, most=10_000)
    context_messages: int | None = setting(
        "Overrides runs.context_messages.", None, unit="messages", least=1, most=10_000
    )


SHIPPED_PROFILES: Mapping[str, ProfileSettings] = MappingProxyType(
    {"screen": ProfileSettings(max_steps=15, context_messages=20)}
)


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """Retention of ended runs' raw records; messages stay."""

    completed_days: float = setting("After a completed or cancelled run.", 7, unit="days", least=0)
    error_days: float = setting("After a failed run.", 30, unit="days", least=0)


@dataclass(frozen=True, slots=True)
class RetrySettings:
    """Retries after a transient failure of a model, and while no sandbox can be started."""

    attempts: int = setting("Retries after a transient failure.", 2, unit="attempts", least=0, most=20)
    base_s: float = setting(
        "Wait before the first retry; doubles each time, with jitter.", 1.0, unit="seconds", least=0
    )
    max_wait_s: float = setting("Longest wait, even if the provider asks for more.", 60, unit="seconds", least=0)

"""Settings of streams."""

from dataclasses import dataclass

from outlast.base.settings.fields import setting


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """How events reach those who follow."""

    save_interval_s: float = setting(
        "How far saved text may lag behind shown text.", 1.0, unit="seconds", least=0.01, most=2
    )
    heartbeat_s: float = setting("A comment is sent on a silent stream this often.", 15.0, unit="seconds", least=0.05)
    slow_reader_s: float = setting(
        "A reader whose connection takes nothing for this long is closed; it resumes from its cursor.",
        30.0,
        unit="seconds",
        least=0.05,
    )
    recheck_s: float = setting(
        "How often an open stream checks that its reader still may read.", 10.0, unit="seconds", least=0.05
    )

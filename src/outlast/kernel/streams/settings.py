"""Settings of streams."""

from outlast.base.records import dataclass
from outlast.base.settings.fields import setting


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """Delivery of events to followers."""

    save_interval_s: float = setting(
        "Longest delay before shown text is saved.", 1.0, unit="seconds", least=0.01, most=2
    )
    heartbeat_s: float = setting("Interval of comments on a silent stream.", 15.0, unit="seconds", least=0.05)
    slow_reader_s: float = setting(
        "A connection that accepts nothing for this long is closed; the client resumes from its cursor.",
        30.0,
        unit="seconds",
        least=0.05,
    )
    recheck_s: float = setting(
        "Interval at which an open stream checks its reader's permission again.", 10.0, unit="seconds", least=0.05
    )

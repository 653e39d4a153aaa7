"""Settings of schedules."""

from outlast.base.records import dataclass
from outlast.base.settings.fields import setting


@dataclass(frozen=True, slots=True)
class ScheduleSettings:
    """Runs that are started by the clock."""

    per_project: int = setting("Schedules one project may have.", 100, unit="schedules", least=0, most=10_000)
    least_s: float = setting(
        "Shortest time between two runs of one schedule.", 60, unit="seconds", least=60, most=31_536_000
    )
    project: str = setting(
        "Id of the project with the schedules of the agents in your code. If empty, the oldest project of the server.",
        "",
    )

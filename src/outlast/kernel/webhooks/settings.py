"""Settings of webhooks."""

from outlast.base.records import dataclass
from outlast.base.settings.checks import Where, check_each
from outlast.base.settings.fields import setting
from outlast_sandbox.host_patterns import parse_host_port


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """Events of projects that are sent to other programs."""

    most_per_project: int = setting("Webhooks of one project.", 20, unit="webhooks", least=0, most=200)
    allow_private: tuple[str, ...] = setting("Private addresses (HOST:PORT) that webhooks may be sent to.", ())
    timeout_s: float = setting("Longest wait for an answer.", 15, unit="seconds", least=0.1, most=40)
    first_retry_s: float = setting(
        "Wait after the first failed try; it doubles each time.", 5, unit="seconds", least=0.01
    )
    give_up_after_s: float = setting(
        "Time of tries after which a delivery is given up.", 86_400, unit="seconds", least=1
    )
    calls_per_minute: int = setting("Calls of one incoming webhook.", 60, unit="a minute", least=0)
    delivered_days: float = setting("Time that delivered events are listed.", 7, unit="days", least=0.001)
    dead_days: float = setting("Time that given up deliveries can be replayed.", 30, unit="days", least=0.001)

    def check(self, where: Where) -> None:
        """Raises `InvalidSetting`."""
        check_each("webhooks.allow_private", self.allow_private, parse_host_port, where)

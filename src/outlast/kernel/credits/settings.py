"""Settings of credits."""

from collections.abc import Mapping
from types import MappingProxyType

from outlast.base.records import dataclass
from outlast.base.settings.fields import setting

SHIPPED_PLANS: Mapping[str, int | None] = MappingProxyType({"starter": 25, "pro": 50, "unlimited": None})


@dataclass(frozen=True, slots=True)
class CreditSettings:
    """The plans of users and their credits."""

    default_plan: str = setting("Plan of a new user.", "unlimited")
    plans: Mapping[str, int | None] = setting(
        'Credits per month by plan name ("unlimited" for no limit); adds to starter 25, pro 50 and unlimited.',
        factory=lambda: SHIPPED_PLANS,
        unit="credits a month",
        least=0,
    )
    low_at: int = setting("Warn users when their balance is at or below this.", 5, unit="credits", least=0)

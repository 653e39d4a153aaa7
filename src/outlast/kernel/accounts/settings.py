"""Settings of signing in."""

from outlast.base.records import dataclass
from outlast.base.settings.fields import setting


@dataclass(frozen=True, slots=True)
class AuthSettings:
    """Signing in."""

    session_days: float = setting("Time that a browser stays signed in.", 30, unit="days", least=0.001)

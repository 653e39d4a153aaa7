"""Settings of locks."""

from outlast.base.records import dataclass
from outlast.base.settings.fields import setting


@dataclass(frozen=True, slots=True)
class LockSettings:
    """The right to drive a thread."""

    ttl_s: float = setting("Life of a lock; each run renews it.", 3600, unit="seconds", least=3600, most=7200)

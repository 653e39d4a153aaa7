"""Settings of saved secrets."""

from outlast.base.records import dataclass
from outlast.base.settings.fields import setting


@dataclass(frozen=True, slots=True)
class SecretSettings:
    """Secrets that owners of projects save for their sandboxes."""

    hosts: tuple[str, ...] = setting(
        "Hosts that a saved secret may name, and so open to sandboxes (HOST, *.HOST, or * for every public host).",
        ("*",),
    )
    most_per_project: int = setting(
        "Most saved secrets of one project; 0 turns the limit off.", 100, unit="secrets", least=0
    )

"""Settings of screens, the apps that run in sandboxes."""

from typing import Literal

from outlast.base.records import dataclass
from outlast.base.settings.fields import setting


@dataclass(frozen=True, slots=True)
class ScreenSettings:
    """Apps on the canvas."""

    template: Literal["next", "vite"] = setting("Template of a new screen, unless the request names one.", "next")
    memory_mb: int = setting("Memory of a screen's sandbox, at least.", 2048, unit="MiB", least=512)
    cpus: float = setting("Processor cores of a screen's sandbox, at least.", 2.0, unit="cores", least=0.25)
    check_timeout_s: float = setting("Time limit of the type check at the end of a run.", 120, unit="seconds", least=5)
    pictures: bool = setting("Take a picture of a finished screen, if Chromium is installed.", True)
    browser: str = setting("Path of Chromium (default: the first Chromium or Chrome found on the server).", "")
    image_hosts: tuple[str, ...] = setting(
        "Hosts whose pictures every screen and preview may load: HOST, *.HOST or *, each with an optional :PORT. "
        "Pictures of other hosts load in a screen once a member has allowed the host there.",
        (),
    )
    most_per_project: int = setting("Most screens in one project; 0 turns the limit off.", 200, unit="screens", least=0)

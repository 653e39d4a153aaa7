"""Settings of agents that operators write."""

from outlast.base.records import dataclass
from outlast.base.settings.fields import setting


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Agents of your own: Python code that runs with the server's rights, for everybody on the server."""

    folder: str = setting(
        "Folder of Python files whose agents this server offers; relative to the configuration file. If empty, the "
        "folder `agents` next to it, if there is one.",
        "",
    )
    modules: tuple[str, ...] = setting("Installed Python modules whose agents this server offers.", ())
    reload: bool = setting("Load the folder again when a file in it changes, as `outlast dev` does.", False)

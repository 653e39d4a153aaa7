"""What the skills app opens once per server."""

from outlast.apps.skills.addition import skills_addition
from outlast.apps.skills.server_folder import ServerFolder
from outlast.apps.skills.settings import SkillSettings
from outlast.kernel.apps.opened import Opened, Opening


def open_app(opening: Opening) -> Opened:
    """The tools of skills for every agent, and the server's own skills."""
    folder = ServerFolder(opening.database, opening.blobs, opening.clock, opening.settings.of(SkillSettings))
    addition = skills_addition(opening.database, opening.blobs, opening.workspaces, opening.runs_code)
    return Opened(additions=[addition], tasks={"skills of the server": folder.run})

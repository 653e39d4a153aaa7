"""Skills: folders with instructions, scripts and references for a kind of task, in the open format of agentskills.io.

A project's agents read the names and descriptions of its skills. An agent that takes one up gets its instructions
(`use_skill`), reads its other files one by one, and finds the folder in its sandbox. Skills belong to a project or,
from a folder of the configuration, to the server.
"""

from outlast.apps.skills.settings import SkillSettings
from outlast.kernel.cli.command_group import WORK, CommandGroup

SETTINGS = {"skills": SkillSettings}
COMMANDS = (CommandGroup("skills", f"{__name__}.commands", "Instructions and scripts that agents use", WORK),)

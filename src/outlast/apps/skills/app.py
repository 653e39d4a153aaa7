"""The declaration of the skills app."""

from typing import Final

from outlast.apps.skills import tables
from outlast.kernel.apps.app import App

APP: Final = App(
    name="skills",
    tables=[tables.skills, tables.skill_files, tables.skills_off, tables.skill_uses],
    blob_columns=[tables.skill_files.c.blob],
    prefixes={"skill": "skl"},
    server="outlast.apps.skills.server",
    tools=["use_skill", "read_skill_file"],
    routes=["outlast.apps.skills.routes"],
)

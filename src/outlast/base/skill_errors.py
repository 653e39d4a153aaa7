"""The errors of skills."""

from outlast.base.errors import Conflict, InvalidRequest


class SkillInvalid(InvalidRequest):
    """The files are not a skill: `SKILL.md`, its front matter, or a path is not usable. Fields: usually `path`."""

    code = "skill_invalid"
    default_hint = "A skill is a folder with a SKILL.md that begins with a name and a description between lines of ---."


class SkillNameTaken(Conflict):
    """The project has a skill of this name. Fields: `name`."""

    code = "skill_name_taken"
    default_hint = "Replace it, or change the name in SKILL.md."


class SkillOfServer(Conflict):
    """The skill comes from the server's configuration, so a project cannot delete it. Fields: `name`."""

    code = "skill_of_server"
    default_hint = "Turn it off in the project."


class SkillChanged(Conflict):
    """The skill was replaced, deleted or turned off after the run began to use it. Fields: `name`."""

    code = "skill_changed"
    default_hint = "Use the skill again to read it as it is now."


class TooManySkills(Conflict):
    """The project has as many skills as it may. Fields: `project_id`."""

    code = "too_many_skills"
    default_hint = "Delete one that you no longer need, or ask the operator to raise skills.most_per_project."

"""Shapes of skills."""

from outlast.kernel.http.shapes import Answer, Request


class SkillAnswer(Answer):
    """A skill of a project, or of the server."""

    name: str
    description: str
    license: str
    compatibility: str
    allowed_tools: str
    of_server: bool
    enabled: bool
    digest: str
    files: int
    size_bytes: int
    created_by: str | None
    created_at: str
    updated_at: str


class SkillFileAnswer(Answer):
    """A file of a skill."""

    path: str
    size_bytes: int


class SkillContentAnswer(Answer):
    """A skill with its instructions and the list of its files."""

    skill: SkillAnswer
    instructions: str
    files: list[SkillFileAnswer]


class SkillTextAnswer(Answer):
    """The text of a file of a skill."""

    path: str
    size_bytes: int
    text: str | None
    is_cut: bool


class SkillPatch(Request):
    enabled: bool

"""Shapes of models."""

from outlast.kernel.http.shapes import Answer


class ModelAnswer(Answer):
    """A configured model. If it is not available, `reason` says why."""

    id: str
    label: str
    provider: str
    vision: bool
    credits: int
    default: bool
    demo: bool
    available: bool
    reason: str | None = None

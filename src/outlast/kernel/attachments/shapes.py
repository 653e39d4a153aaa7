"""Shapes of uploads."""

from pydantic import Field

from outlast.kernel.http.shapes import Answer, Request

MAX_BYTES = 10**15


class UploadRequest(Request):
    """The file to upload in pieces."""

    name: str = Field(max_length=1000)
    size_bytes: int = Field(ge=0, le=MAX_BYTES)
    project_id: str | None = None


class UploadAnswer(Answer):
    """An upload in progress: send the bytes from `offset` on."""

    id: str
    name: str
    size_bytes: int
    offset: int

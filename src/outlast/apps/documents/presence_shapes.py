"""Shapes of presence."""

from pydantic import Field

from outlast.kernel.http.shapes import Request


class PlaceRequest(Request):
    """The block where you are, and whether you type."""

    block_id: str | None = Field(None, max_length=40)
    typing: bool = False

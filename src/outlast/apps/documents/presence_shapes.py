"""Shapes of presence."""

from pydantic import Field

from outlast.kernel.http.shapes import Request


class PlaceRequest(Request):
    """The block where the caller is (null: at none), and whether they type in it."""

    block_id: str | None = Field(None, max_length=40)
    typing: bool = False

"""The routers of nouns."""

from operator import attrgetter
from typing import Any, Final

from fastapi import APIRouter

from outlast.kernel.http.shapes import Problem

REFUSED: Final[dict[int | str, dict[str, Any]]] = {
    "4XX": {"model": Problem, "description": "Refused; `code` says why, `hint` what to do."}
}


def noun_router(tag: str, prefix: str = "/v1") -> APIRouter:
    """A router for the routes of one noun, which openapi.json lists under `tag` and names after their functions. The
    application takes its routes as they are: FastAPI's `include_router` would build each a second time."""
    return APIRouter(prefix=prefix, tags=[tag], responses=REFUSED, generate_unique_id_function=attrgetter("name"))

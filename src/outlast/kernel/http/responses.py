"""JSON answers. Routes declare their model for the documentation and return ready bytes, so nothing is validated
twice."""

from typing import Any, Final
from urllib.parse import quote

import orjson
from pydantic import BaseModel
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from outlast.db.blobs.port import LentFile

MEDIA_TYPE = "application/json"
LOCKED_DOWN: Final = "default-src 'none'; sandbox; frame-ancestors 'none'"
DRAWING: Final = f"style-src 'unsafe-inline'; img-src data:; font-src data:; {LOCKED_DOWN}"
"""Of an SVG file: its own styles and the pictures in it, and nothing that runs or is fetched."""
KEPT: Final = "private, max-age=31536000, immutable"


def reply(value: Any, status: int = 200) -> Response:
    """`value` (plain data, dataclasses or models) as a JSON answer that caches do not store."""
    return Response(orjson.dumps(value, default=_plain), status, {"cache-control": "no-store"}, MEDIA_TYPE)


def page(items: Any, next_cursor: Any = None) -> dict[str, Any]:
    """A list answer: the items and the cursor of the next page."""
    return {"items": items, "next": None if next_cursor is None else str(next_cursor)}


def nothing() -> Response:
    """An empty answer (204)."""
    return Response(status_code=204)


def file_reply(
    name: str, content: bytes, media_type: str, *, inline: bool, policy: str = LOCKED_DOWN, cache: str = KEPT
) -> Response:
    """A file's bytes, which browsers show (`inline`) or save under its name, but never run as a page of this origin."""
    return Response(content, 200, _file_headers(name, inline, policy, cache), media_type)


def stored_file_reply(
    name: str, file: LentFile, media_type: str, *, inline: bool, policy: str = LOCKED_DOWN
) -> Response:
    """As `file_reply` for a stored file, which is sent in pieces and then given back; requests for a range get that.
    Without a media type it is sent as bytes of no known kind."""
    headers = _file_headers(name, inline, policy, KEPT)
    after = BackgroundTask(file.give_back)
    return FileResponse(file.path, 200, headers, media_type or "application/octet-stream", after)


def _file_headers(name: str, inline: bool, policy: str, cache: str) -> dict[str, str]:
    return {
        "content-disposition": f"{'inline' if inline else 'attachment'}; filename*=UTF-8''{quote(name, safe='')}",
        "content-security-policy": policy,
        "cache-control": cache,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, (tuple, set, frozenset)):
        return list(value)
    if isinstance(value, dict):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")

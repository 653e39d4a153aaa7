"""The web app's files: hashed assets that never change, one page for every other path. The build adds compressed copies
(web/compress.mjs); a client gets the best one that it accepts."""

import mimetypes
import re
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import NotModifiedResponse

from outlast.base.errors import NotFound

FOLDER: Final = Path(__file__).parents[2] / "_web"
FOR_EVER: Final = "public, max-age=31536000, immutable"
ASK_AGAIN: Final = "no-cache"
MISSING_PAGE: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Outlast</title>
<style>body{font:16px/1.5 system-ui;margin:4rem auto;max-width:36rem;padding:0 1rem}</style>
<h1>Outlast is running</h1>
<p>Its web app has not been built yet. Run <code>make setup</code> in the repository and load this page again.</p>
<p>The API is ready: <a href="/v1/me">/v1/me</a>, described by <a href="/openapi.json">/openapi.json</a>.</p></html>"""

NO_PAGES: Final = frozenset({"assets", "v1", "api", "metrics", ".well-known"})  # first parts of paths
# Best first; by the ending of the compressed copy.
ENCODINGS: Final = {"br": ".br", "gzip": ".gz"}
MAX_ACCEPTED_CHARS: Final = 1_000

mimetypes.add_type("text/javascript", ".js")
mimetypes.add_type("application/manifest+json", ".webmanifest")


def asks_for_page(accept: str | None) -> bool:
    """True if a user opens an address in a browser. Programs that probe for an API route accept anything, or send no
    Accept header: an answer in HTML would look as if the route existed."""
    return accept is not None and "text/html" in accept.lower()


class WebApp:
    """Serves a built web app from `folder`: the file if the path names one, else the page for browsers (the app routes
    inside it)."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder.resolve()

    async def answer(self, request: Request) -> Response:
        """The file under the request's path. Raises `NotFound` for a missing asset."""
        path = request.path_params.get("path", "")
        named = (self._folder / path).resolve()
        if path and named.is_relative_to(self._folder) and named.is_file():
            held = path.startswith("assets/")
            return stored_file(request, named, FOR_EVER if held else ASK_AGAIN)
        if path and (path.split("/")[0] in NO_PAGES or not asks_for_page(request.headers.get("accept"))):
            raise NotFound(f"There is nothing at /{path[:200]}.")
        page = self._folder / "index.html"
        if not page.is_file():
            return HTMLResponse(MISSING_PAGE, headers={"cache-control": "no-store"})
        return stored_file(request, page, ASK_AGAIN)


def accepted(header: str) -> list[str]:
    """The supported encodings of an `Accept-Encoding` header, the best first, without those with `q=0`. At most
    `MAX_ACCEPTED_CHARS` of it are read."""
    wanted = {}
    for item in header[:MAX_ACCEPTED_CHARS].split(","):
        name, *parameters = (part.strip().lower() for part in item.split(";"))
        wanted[name] = all(not re.fullmatch(r"q\s*=\s*0(\.0*)?", parameter) for parameter in parameters)
    return [name for name in ENCODINGS if wanted.get(name, wanted.get("*", False))]


def stored_file(request: Request, path: Path, cache_control: str) -> Response:
    """The file, or its best copy. Every file with copies is sent with `Vary`, so that caches keep them apart."""
    copies = {name: path.with_name(path.name + ending) for name, ending in ENCODINGS.items()}
    there = {name: copy for name, copy in copies.items() if copy.is_file()}
    headers = {"cache-control": cache_control} | ({"vary": "accept-encoding"} if there else {})
    chosen = next((name for name in accepted(request.headers.get("accept-encoding", "")) if name in there), None)
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    if chosen is not None:
        path, headers["content-encoding"] = there[chosen], chosen
    response = FileResponse(path, headers=headers, media_type=media_type, stat_result=path.stat())
    known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
    return NotModifiedResponse(response.headers) if response.headers["etag"] in known else response

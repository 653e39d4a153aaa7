"""The web app's files: hashed assets that never change, one page for every other path."""

import mimetypes
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response

from outlast.base.errors import NotFound

FOLDER: Final = Path(__file__).parents[2] / "_web"
FOR_EVER: Final = "public, max-age=31536000, immutable"
ASK_AGAIN: Final = "no-cache"
MISSING_PAGE: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Outlast</title>
<style>body{font:16px/1.5 system-ui;margin:4rem auto;max-width:36rem;padding:0 1rem}</style>
<h1>Outlast is running</h1>
<p>Its web app has not been built yet. Run <code>make setup</code> in the repository and load this page again.</p>
<p>The API is ready: <a href="/v1/me">/v1/me</a>, described by <a href="/openapi.json">/openapi.json</a>.</p></html>"""

mimetypes.add_type("text/javascript", ".js")
mimetypes.add_type("application/manifest+json", ".webmanifest")


class WebApp:
    """Serves a built web app from `folder`: a file where one is named, else the page (the app routes inside it)."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder.resolve()

    async def answer(self, request: Request) -> Response:
        """The file under the request's path. Raises `NotFound` for a missing asset."""
        path = request.path_params.get("path", "")
        named = (self._folder / path).resolve()
        if path and named.is_relative_to(self._folder) and named.is_file():
            held = path.startswith("assets/")
            return FileResponse(named, headers={"cache-control": FOR_EVER if held else ASK_AGAIN})
        if path.startswith(("assets/", "v1/")):
            raise NotFound(f"There is nothing at /{path[:200]}.")
        page = self._folder / "index.html"
        if not page.is_file():
            return HTMLResponse(MISSING_PAGE, headers={"cache-control": "no-store"})
        return FileResponse(page, headers={"cache-control": ASK_AGAIN})

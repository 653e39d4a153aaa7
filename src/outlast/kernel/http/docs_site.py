"""The documentation site at /docs, as `scripts/site.py` builds it: no sign-in, nothing from another host."""

from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from outlast.base.errors import NotFound
from outlast.kernel.http.static_files import ASK_AGAIN, FOR_EVER, asks_for_page, stored_file

FOLDER: Final = Path(__file__).parents[2] / "_docs"
ADDRESS: Final = "/docs/"
FOR_MODELS: Final = frozenset({"llms.txt", "llms-full.txt"})
"""Also served at the root, where programs expect them (https://llmstxt.org)."""


def docs_page(page: str) -> str:
    """The address of a documentation page on this server, for hints: `docs_page("guides/deploy#backups")`."""
    path, _, anchor = page.partition("#")
    return ADDRESS + (f"{path}/" if path else "") + (f"#{anchor}" if anchor else "")


class DocsSite:
    """Serves a built site from `folder`."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder.resolve()

    def has(self, path: str) -> bool:
        """True if the site answers this path below the server's root."""
        return path == "docs" or path.startswith("docs/") or path in FOR_MODELS

    async def answer(self, request: Request, path: str) -> Response:
        """The file or page at a path that the site `has`. If it is missing, answers browsers with the site's own page,
        and raises `NotFound` otherwise."""
        inner = path.removeprefix("docs").removeprefix("/")
        named = (self._folder / inner).resolve()
        if named.is_relative_to(self._folder) and not any(part.startswith(".") for part in Path(inner).parts):
            if (named / "index.html").is_file():
                if inner.endswith("/") or path == "docs/":
                    return stored_file(request, named / "index.html", ASK_AGAIN)
                return RedirectResponse(f"/{path}/", 308)
            if named.is_file():
                # The theme's files carry a hash of their content in their names; scripts of ours too.
                is_hashed = inner.startswith("assets/") and ".min." in named.name
                return stored_file(request, named, FOR_EVER if is_hashed else ASK_AGAIN)
        return self._missing(request, path)

    def _missing(self, request: Request, path: str) -> Response:
        page = self._folder / "404.html"
        if not page.is_file():
            raise NotFound("The documentation has not been built.", hint="Run `make setup` in the repository.")
        if not asks_for_page(request.headers.get("accept")):
            raise NotFound(f"There is nothing at /{path[:200]}.", hint="/llms.txt lists all pages.")
        return Response(page.read_bytes(), 404, {"cache-control": "no-store"}, "text/html")

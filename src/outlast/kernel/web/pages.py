"""Web pages as text."""

from typing import Final

_START_CHARS: Final = 512


def read_page(html: str, url: str) -> tuple[str, str]:
    """See `read_web_page`; imported here, because its libraries take a twentieth of each server's start."""
    from outlast.kernel.web.html_to_markdown import read_web_page

    return read_web_page(html, url)


def looks_like_html(text: str) -> bool:
    """True if a text without a clear content type is a web page."""
    start = text.lstrip("\ufeff \t\r\n")[:_START_CHARS].lower()
    return start.startswith(("<!doctype html", "<html")) or ("<head" in start and "<title" in start)

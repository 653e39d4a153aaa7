"""A web page's text as Markdown: its main part, with the fragments of its headings, without what surrounds it. Pure."""

from typing import Final

from outlast.apps.knowledge.texts import NoPage

_START_CHARS: Final = 512


def read_web_page(html: str, url: str) -> tuple[str, str]:
    """(title, Markdown) of a page at `url`: at most 5,000,000 characters, elements at most 200 deep. Raises `NoPage`.
    Blocking: call it in a thread."""
    # Loaded here, for its libraries would be a twentieth of each server's start, and few read pages at once.
    from outlast.apps.knowledge.web_markdown import title_and_markdown

    try:
        return title_and_markdown(html, url)
    except RecursionError:
        raise NoPage("its elements are nested too deeply") from None


def looks_like_html(text: str) -> bool:
    """Whether a text without a telling content type is a web page."""
    start = text.lstrip("\ufeff \t\r\n")[:_START_CHARS].lower()
    return start.startswith(("<!doctype html", "<html")) or ("<head" in start and "<title" in start)

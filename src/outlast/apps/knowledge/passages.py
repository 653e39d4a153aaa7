"""A passage of documentation as it is cut from a text, and what is searched of it. Pure."""

from dataclasses import dataclass
from typing import Final

from outlast.kernel.library.modules import text_hash

BETWEEN: Final = " › "  # the headings above a passage


@dataclass(frozen=True, slots=True)
class Cut:
    """One passage as it was cut from a text: `heading` the way to it, `body` its Markdown, `url` where to read it."""

    heading: str
    body: str
    url: str

    @property
    def hash(self) -> str:
        return text_hash(searched_text(self.heading, self.body))


def searched_text(heading: str, body: str) -> str:
    """The text of a passage that is indexed and embedded."""
    return f"{heading}\n\n{body}" if heading else body


def page_of(url: str) -> str:
    """The address of the document that a passage is part of."""
    return url.partition("#")[0]


class NoPage(ValueError):
    """The text is no web page that can be read; the message says why."""

"""A passage of documentation as cut from a text, and its searched text. Pure."""

from typing import Final

from outlast.base.records import dataclass
from outlast.kernel.library.modules import text_hash

BETWEEN: Final = " › "  # the headings above a passage


@dataclass(frozen=True, slots=True)
class Cut:
    """One passage as cut from a text: `heading` is the chain of headings, `body` its Markdown, `url` its address."""

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
    """The address of the document that contains a passage."""
    return url.partition("#")[0]

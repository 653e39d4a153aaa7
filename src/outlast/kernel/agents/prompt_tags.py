"""Tags around people's texts in a prompt: the texts do not contain the tags' names, so no text can end its own tags.
Pure."""

from collections.abc import Iterable
from typing import Final

from outlast.base.records import dataclass

QUOTE: Final = '"'
TAGS: Final = (
    *("document", "outline", "section", "block", "comment", "answer", "quote", "selection", "file"),
    *("files", "proposals", "memories", "instructions", "data"),
)


@dataclass(frozen=True, slots=True)
class PromptTags:
    """Tags for data. `mark` is added to their names; empty if no text needs it."""

    mark: str = ""

    @staticmethod
    def around(texts: Iterable[str]) -> "PromptTags":
        """Tags that none of the texts can open or close."""
        joined = "\n".join(texts).lower()
        mark, number = "", 1
        while any(f"<{slash}{tag}{mark}" in joined for tag in TAGS for slash in ("", "/")):
            number += 1
            mark = f"-{number}"
        return PromptTags(mark)

    def put(self, tag: str, body: str, **attributes: object) -> str:
        """The element, with its body on separate lines."""
        return f"{self.open(tag, **attributes)}\n{body}\n{self.close(tag)}"

    def open(self, tag: str, **attributes: object) -> str:
        told = "".join(f' {name}="{_attribute(value)}"' for name, value in attributes.items() if value is not None)
        return f"<{tag}{self.mark}{told}>"

    def close(self, tag: str) -> str:
        return f"</{tag}{self.mark}>"


def _attribute(value: object) -> str:
    line = " ".join(str(value).split())
    return line.replace("&", "&amp;").replace(QUOTE, "&quot;").replace("<", "&lt;")

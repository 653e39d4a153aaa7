"""What a thread hangs on, to be shown and opened."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class About:
    """An anchor in a document. `text`: the comment's or the selected words, on one line. `gone`: what the anchor names
    is not there any more."""

    document_id: str
    document_title: str
    section_id: str | None = None
    heading: str | None = None
    block_id: str | None = None
    comment_id: str | None = None
    text: str = ""
    gone: bool = False

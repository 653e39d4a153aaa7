"""Cutting text where a model would: at words."""

import re
from typing import Final

_WORD: Final = re.compile(r"\s*\S+|\s+")


def split_words(text: str) -> list[str]:
    """The text's words, each with the white space before it; joined, they are the text again."""
    return _WORD.findall(text)

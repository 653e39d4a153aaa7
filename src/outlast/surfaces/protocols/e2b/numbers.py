"""Whole numbers as callers write them."""

import re
from typing import Final

_WHOLE: Final = re.compile(r"-?[0-9]{1,18}")


def whole_number(text: str) -> int | None:
    """The number that a text is, in ASCII digits, at most 18 of them; None: it is none."""
    return int(text) if _WHOLE.fullmatch(text) else None

"""How many tokens a text is, about: no tokenizer is asked, as each provider has its own. Pure."""

from typing import Final

CODE_CHARS_PER_TOKEN: Final = 3.2  # code and HTML have more signs


def chars_of(tokens: int) -> int:
    """How much HTML fits into so many tokens, carefully."""
    return int(tokens * CODE_CHARS_PER_TOKEN)

"""An agent whose answers are checked, and written again if they have what they must not have."""

import re

from outlast import Agent, StageContext, StageResult

from .support_desk import find_order

CARD = re.compile(r"(?<!\d)(?:\d[ -]?){12,18}\d(?!\d)")
PROMISE = re.compile(r"\b(?:we|I) (?:guarantee|promise)\b", re.IGNORECASE)


def is_card(text: str) -> bool:
    """True for a number whose check digit is right (Luhn)."""
    digits = [int(character) for character in text if character.isdigit()][::-1]
    return sum(digits[::2] + [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]) % 10 == 0


async def check_answer(ctx: StageContext) -> StageResult:
    """Find what an answer must not have. The problems do not repeat it: people read them, too."""
    text = "\n".join(ctx.unchecked)
    problems = []
    if any(is_card(found) for found in CARD.findall(text)):
        problems.append("Your answer has a card number. Write it again without the number.")
    if PROMISE.search(text):
        problems.append("Your answer makes a promise. Write it again, and say only what is in the order.")
    await ctx.tell("check_answer", "failed" if problems else "done", "It is written again." if problems else "")
    return StageResult(problems=tuple(problems), withdraw=bool(problems))


careful = Agent(
    "careful-desk",
    description="Answers questions about orders, without card numbers and promises.",
    icon="🔎",
    instructions="You answer buyers of a bicycle shop. Be short.",
    tools=[find_order],
    check=check_answer,
    max_steps=6,
)

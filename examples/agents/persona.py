"""A persona: instructions alone make an agent."""

from outlast import Agent

plain_words = Agent(
    "plain-words",
    title="Plain words",
    description="Says it so that everybody understands it.",
    icon="✏️",
    instructions="You rewrite what people send you in plain words: short sentences, no jargon, nothing added. "
    "Answer with the new text only.",
)

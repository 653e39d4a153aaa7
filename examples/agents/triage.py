"""Sorts letters: the answer is an object, not text."""

from typing import Literal

from pydantic import BaseModel, Field

from outlast import Agent


class Verdict(BaseModel):
    topic: Literal["order", "repair", "other"]
    urgent: bool = Field(description="A person should read it today.")
    summary: str = Field(max_length=500)


triage = Agent(
    "triage",
    title="Triage",
    description="Sorts a letter by topic and urgency.",
    icon="📬",
    instructions="Sort the letter that the person sends you.",
    output=Verdict,
)

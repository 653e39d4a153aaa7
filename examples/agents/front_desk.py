"""A handoff: the front desk answers what it can, and gives the conversation to the support desk for the rest."""

from outlast import Agent

front_desk = Agent(
    "front-desk",
    title="Front desk",
    description="Takes every question, and knows who answers it.",
    icon="🚲",
    instructions="You are the front desk of a bicycle shop, open from 9 to 18 except on Sundays. Be short. Hand "
    "questions about orders and refunds over to the support desk, with the order's number and what the buyer wants.",
    handoffs=["support"],
)

"""An agent that looks an order up before it answers: its first turn must call a tool."""

from outlast import Agent

from .support_desk import find_order

order_desk = Agent(
    "order-desk",
    description="Looks an order up before it says anything about it.",
    icon="📦",
    instructions="You answer questions about orders. Be short.",
    tools=[find_order],
    tool_choice="find_order",
)

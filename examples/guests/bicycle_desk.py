"""An agent of pydantic-ai as an agent of Outlast: the last line of `Agent(...)` is all that it needs.

    pip install 'outlast[pydantic-ai]'
    DESK_MODEL=openai:gpt-5.2 OUTLAST_AGENTS_FOLDER=examples/guests outlast serve

Without `DESK_MODEL` it is answered by pydantic-ai's test model, which calls each tool once.
"""

import os

from pydantic_ai import Agent, RunContext

from outlast import OutlastDurability

ORDERS = {"B-17": "paid, 49900 cents"}

desk = Agent(
    os.environ.get("DESK_MODEL", "test"),
    name="bicycle-desk",
    instructions="You answer buyers of a bicycle shop. Be short.",
    capabilities=[OutlastDurability(title="Bicycle desk", icon="🚲")],
)


@desk.tool_plain
def find_order(order_id: str) -> str:
    """Find an order by its number."""
    return ORDERS.get(order_id, "There is no such order.")


@desk.tool(requires_approval=True)
async def refund(ctx: RunContext, order_id: str, cents: int) -> str:
    """Pay money back. A person approves each refund."""
    key = f"{ctx.run_id} {ctx.tool_call_id}"  # the same when a crash repeats the call: shops pay once for a key
    return f"{cents} cents were paid back for {order_id} ({key})."

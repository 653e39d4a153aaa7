"""A support desk. It looks orders up, and pays money back once a person has agreed."""

from typing import Annotated

from pydantic import Field

from outlast import Agent, Context, tool

PRICES = {"B-17": 49_900, "B-18": 4_200}  # cents; your shop's database takes this place


@tool(repeatable=True)
def find_order(order_id: str) -> str:
    """Find an order by its number, such as B-17."""
    price = PRICES.get(order_id)
    return "There is no order with this number." if price is None else f"{order_id}: paid, {price} cents."


@tool(ask="Refunds need a person")
async def refund(ctx: Context, order_id: str, cents: Annotated[int, Field(gt=0)]) -> str:
    """Pay money back to the buyer of an order."""
    if cents > PRICES.get(order_id, 0):
        return "This is more than the buyer paid, so nothing was paid back."
    ctx.show(f"Paying {cents} cents back for {order_id}\n")
    # A payment service that gets this id again, after a crash, pays only once.
    return f"{cents} cents were paid back for {order_id} (payment {ctx.effect_id})."


support = Agent(
    "support",
    title="Support desk",
    description="Finds orders and pays money back.",
    icon="🛟",
    instructions="You answer buyers of a bicycle shop. Be short. Look an order up before you pay anything back.",
    tools=[find_order, refund],
    max_steps=20,
)

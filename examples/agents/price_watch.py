"""A price watch: the thread knows the prices that it has seen."""

from outlast import Context, flow

OFFERS = [49_900, 47_500, 51_000]  # cents; a look at a shop's page takes this place


def offer_number(number: int) -> int:
    return OFFERS[number % len(OFFERS)]


@flow("price-watch", title="Price watch", description="Says how a price has changed since you last asked.", icon="📉")
async def price_watch(ctx: Context) -> str:
    seen = await ctx.state.get("prices", [])
    price = await ctx.step("price", offer_number, len(seen))
    await ctx.state.set("prices", [*seen, price])
    await ctx.files.show("prices.csv", "\n".join(map(str, ["cents", *seen, price])))
    before = seen[-1] if seen else price
    return f"{price} cents, {price - before:+} since you last asked."

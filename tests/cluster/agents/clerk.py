"""The agent of the cluster's runs: its tools write into a ledger that no fault reaches (`tests.cluster.ledger`)."""

import aiohttp

from outlast import Agent, Context, tool

PATIENCE = aiohttp.ClientTimeout(total=20)


async def _write(ctx: Context, ledger: str, name: str) -> str:
    line = {"effect": ctx.effect_id, "attempt": ctx.attempt, "name": name}
    async with aiohttp.ClientSession(timeout=PATIENCE) as client, client.post(ledger, json=line) as answer:
        answer.raise_for_status()
        return await answer.text()


@tool
async def record(ctx: Context, ledger: str, name: str) -> str:
    """Write a line into the ledger: once, so a call that was cut off is not made again."""
    return await _write(ctx, ledger, name)


@tool(ask="Payments need a person")
async def pay(ctx: Context, ledger: str, name: str) -> str:
    """Write a line into the ledger, if a person lets it."""
    return await _write(ctx, ledger, name)


clerk = Agent("clerk", instructions="You write into a ledger.", tools=[record, pay])

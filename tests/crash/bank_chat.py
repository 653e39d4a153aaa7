"""The agent `chat` as one that pydantic-ai's documentation shows, a bank's support: dependencies with a database, an
instruction and a tool that read it, an answer with a structure. Its line of durability is all that makes it a guest.

Its model is one of OpenAI, at the address that the environment gives. Each look at a balance is a row of `lookups`.
"""

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field
from pydantic_ai import Agent, RunContext

from outlast import Context, OutlastDurability
from outlast.kernel.agents.guests.adoption import adopt
from outlast.kernel.apps.opened import Opened, Opening
from tests.crash.crash_database import POINT_FILE

BANK: Final = "bank.db"  # beside the file of the crash point
CUSTOMER: Final = 7
SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS customers (id INTEGER PRIMARY KEY, name TEXT, cents INTEGER, pending INTEGER);
CREATE TABLE IF NOT EXISTS lookups (run_id TEXT, pending INTEGER);
INSERT OR IGNORE INTO customers VALUES (7, 'Ines', 52340, -1200);
"""
ADVICE: Final = {"advice": "Ines, you have 511.40. I block the card.", "block_card": True, "risk": 8}
TURNS: Final[list[dict[str, Any]]] = [
    {
        "text": "I look at your account first, Ines.",
        "calls": [{"id": "call_settled", "name": "balance", "arguments": {"with_pending": False}}],
        "delay_s": 0.02,
    },
    {
        "text": "Now with what is pending.",
        "calls": [{"id": "call_pending", "name": "balance", "arguments": {"with_pending": True}}],
        "delay_s": 0.02,
    },
    {"calls": [{"id": "call_answer", "name": "final_result", "arguments": ADVICE}], "delay_s": 0.02},
]


class Bank:
    """The bank's database, as one run sees it."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._database = sqlite3.connect(Path(os.environ[POINT_FILE]).with_name(BANK))
        self._database.executescript(SCHEMA)

    async def name_of(self, customer: int) -> str:
        return str(self._database.execute("SELECT name FROM customers WHERE id = ?", (customer,)).fetchone()[0])

    async def cents_of(self, customer: int, *, with_pending: bool) -> int:
        with self._database as tx:
            tx.execute("INSERT INTO lookups VALUES (?, ?)", (self._run_id, with_pending))
        row = self._database.execute("SELECT cents, pending FROM customers WHERE id = ?", (customer,)).fetchone()
        return int(row[0] + row[1]) if with_pending else int(row[0])


@dataclass
class Desk:
    """What the agent works with."""

    customer: int
    bank: Bank


class Advice(BaseModel):
    """What the customer gets."""

    advice: str
    block_card: bool
    risk: int = Field(ge=0, le=10)


def _desk(ctx: Context) -> Desk:
    return Desk(CUSTOMER, Bank(ctx.this_run.id))


support = Agent(
    "openai:gpt-5.2",
    deps_type=Desk,
    output_type=Advice,
    instructions="You help customers of a bank and say how risky what they ask is. Use their names.",
    capabilities=[OutlastDurability(name="chat", deps=_desk)],
)


@support.instructions
async def _who(ctx: RunContext[Desk]) -> str:
    return f"The customer's name is {await ctx.deps.bank.name_of(ctx.deps.customer)}."


@support.tool
async def balance(ctx: RunContext[Desk], with_pending: bool) -> str:
    """What is in the customer's account, also with pending transactions."""
    cents = await ctx.deps.bank.cents_of(ctx.deps.customer, with_pending=with_pending)
    return f"{cents / 100:.2f}"


def open_app(opening: Opening) -> Opened:
    """The agent `chat`."""
    adopted = adopt(support)
    assert adopted is not None
    return Opened(agents=[adopted])

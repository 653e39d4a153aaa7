"""All words of an agent's file together, in forty lines beside the functions of a shop: tools, servers, called agents,
a handoff, and a flow with a schedule."""

from __future__ import annotations

import json
from pathlib import Path

from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_dev import agents_at
from tests.flow.program.test_write_an_agent import approve_refund, asked, events_of

SHOP = '''
from outlast import Agent, Context, flow, mcp, tool
from pydantic import BaseModel

from .own import inbox, shop

@tool(ask="Refunds need a person")
async def refund(ctx: Context, order_id: str, cents: int) -> str:
    """Pay money back to a buyer."""
    charge = await ctx.step("find", shop.charge_of, order_id)
    paid = await ctx.step("pay", shop.refund, charge, cents, idempotency_key=ctx.effect_id)
    ctx.show(f"{cents / 100:.2f} € to {charge.buyer}")
    return paid.id

class Sorted(BaseModel):
    urgent: bool
    topic: str

triage = Agent("triage", model="fast", instructions="Sort this letter.", output=Sorted)

support = Agent(
    "support", title="Support", instructions="You answer buyers of a bicycle shop. Be short.",
    tools=[refund, mcp.http("https://mcp.linear.app/mcp", login="user"), mcp.stdio("npx -y @acme/stock")],
    agents=[triage],
    handoffs=["billing"], sandbox=True, max_steps=30)

@flow("weekly-digest", schedule="0 8 * * MON", zone="Europe/Berlin")
async def digest(ctx: Context) -> str:
    letters = await ctx.step("letters", inbox.last_week)
    verdicts = await ctx.gather(*(ctx.run(triage, letter.text, key=letter.id) for letter in letters))
    if any(v.urgent for v in verdicts) and await ctx.ask("Send it to the whole team?", ["yes", "no"]) == "no":
        return "not sent"
    return await ctx.run(support, "Write the digest.", context=verdicts)
'''

OWN = """
from pydantic import BaseModel

from outlast import Agent

billing = Agent("billing", title="Billing", instructions="You answer questions about invoices.")

class Charge(BaseModel):
    id: str
    buyer: str

class Letter(BaseModel):
    id: str
    text: str

class shop:
    @staticmethod
    async def charge_of(order_id: str) -> Charge:
        return Charge(id=f"charge of {order_id}", buyer="Ana")

    @staticmethod
    async def refund(charge: Charge, cents: int, *, idempotency_key: str) -> Charge:
        return Charge(id=f"{cents} cents of the {charge.id}", buyer=charge.buyer)

class inbox:
    @staticmethod
    async def last_week() -> list[Letter]:
        return [Letter(id="1", text="My brake is broken, this is urgent!"), Letter(id="2", text="Thank you.")]
"""


def test_a_file_with_every_word_works_from_an_empty_folder(tmp_path: Path) -> None:
    folder, config = tmp_path / "agents", tmp_path / "outlast.toml"
    folder.mkdir()
    fast = '[[models]]\nid = "fast"\nprovider = "demo"\nname = "demo"\n'
    config.write_text(CONFIG.format(folder=tmp_path / "data") + fast)
    (folder / "own.py").write_text(OWN)
    (folder / "shop.py").write_text(SHOP)
    with served(config, "dev") as address:
        agents_at(
            address, lambda found: {"support", "triage", "weekly-digest"} <= {one["name"] for one in found["items"]}
        )

        started = asked(address, "/v1/runs", {"content": "Refund 900 cents of order B-17", "profile": "support"})
        approve_refund(address, started["run_id"])
        answer = asked(address, f"/v1/threads/{started['thread_id']}/messages")["items"][-1]
        assert "900 cents of the charge of B-17" in answer["parts"][-1]["text"]

        digest = asked(address, "/v1/runs", {"content": "Go.", "profile": "weekly-digest"})
        children = 0
        for event in events_of(address, digest["run_id"]):
            children += event["event"] == "part.created" and event["data"]["part"]["type"] == "subrun"
            if event["event"] == "question.asked":
                asked(address, f"/v1/questions/{event['data']['question']['id']}", {"answers": {"answer": "yes"}})
        assert children == 3
        end = asked(address, f"/v1/threads/{digest['thread_id']}/messages")["items"][-1]
        assert end["status"] == "complete", json.dumps(end)

        project = asked(address, "/v1/projects")["items"][0]["id"]
        (schedule,) = asked(address, f"/v1/projects/{project}/schedules")["items"]
        assert (schedule["zone"], schedule["agent"]) == ("Europe/Berlin", "weekly-digest")
        servers = asked(address, f"/v1/projects/{project}/mcp-servers")["items"]
        assert [(one["name"], one["origin"], one["login"]) for one in servers] == [
            ("linear", "code", "user"),
            ("stock", "code", None),
        ]

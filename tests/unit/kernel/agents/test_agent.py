"""What an agent may be made of, and the agents of one server."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from outlast import Agent, Context, flow, tool
from outlast.base.errors import ArgumentsInvalid, StartRefused
from outlast.kernel.agents.additions import Addition
from outlast.kernel.agents.context import StageContext
from outlast.kernel.agents.hooks import StageResult
from outlast.kernel.agents.prompt import Conversation, Prompt
from outlast.kernel.agents.registry import Agents
from outlast.kernel.agents.tool import Tool
from outlast.kernel.agents.tools.ask_user import ask_user

SLACK = 5  # other work may share the machine


class Verdict(BaseModel):
    urgent: bool


@tool
async def find_order(order_id: str) -> str:
    """Find an order."""
    return order_id


async def look(_context: StageContext) -> StageResult:
    return StageResult()


@pytest.mark.parametrize("name", ["", "Shop", "shop floor", "-shop", "x" * 41])
def test_a_name_that_is_not_one_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="Invalid agent name"):
        Agent(name)


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two tools"):
        Agent("support", tools=[find_order, find_order])


def test_an_agent_with_an_output_gets_the_tool_that_takes_it_and_can_have_no_other_check() -> None:
    triage = Agent("triage", tools=[find_order], output=Verdict)
    assert [spec.name for spec in triage.specs] == ["find_order", "final_answer"]
    assert triage.plan is not None
    assert (triage.plan.prepares, triage.plan.checks) == (False, True)
    with pytest.raises(ValueError, match="output"):
        Agent("triage", output=Verdict, check=look)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"tool_choice": "refund", "tools": [find_order]}, r"no tool 'refund' .* auto, required, find_order\.$"),
        ({"tool_choice": "required"}, "no tools"),
        ({"tool_choice": "none", "tools": [find_order]}, "no tool 'none'"),
    ],
)
def test_a_choice_of_a_tool_that_the_agent_does_not_have_is_refused(more: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Agent("support", **more)


def test_a_choice_may_be_an_agents_tool_another_agent_or_the_answer() -> None:
    support = Agent("support", tools=[find_order], tool_choice="find_order")
    assert replace(support, max_steps=3).tool_choice == "find_order"
    assert Agent("desk", agents=[Agent("first-line")], tool_choice="first_line").tool("first_line") is not None
    assert Agent("triage", output=Verdict, tool_choice="final_answer").tool_choice == "final_answer"
    assert Agent("triage", output=Verdict, tool_choice="required").tool_choice == "required"
    assert Agent("coder", sandbox=True, tool_choice="required").tool_choice == "required"


def test_a_changed_copy_of_an_agent_is_an_agent() -> None:
    triage = replace(Agent("triage", tools=[find_order], output=Verdict), max_steps=3)
    assert [spec.name for spec in triage.specs] == ["find_order", "final_answer"]
    assert triage.tool("find_order") is find_order
    assert triage.tool("terminal") is None


def test_an_agent_without_stages_has_no_plan_for_them() -> None:
    assert Agent("support").plan is None
    plan = Agent("support", prepare=look, done_mark="<done>").plan
    assert plan is not None
    assert (plan.prepares, plan.checks, plan.done_mark) == (True, False, "<done>")


def test_two_agents_of_one_name_refuse_the_start_with_the_names_of_both_apps() -> None:
    with pytest.raises(StartRefused) as caught:
        Agents({"shop": [Agent("support")], "desk": [Agent("support")]})
    assert "shop" in caught.value.message
    assert "desk" in caught.value.message


def test_a_server_knows_its_agents_those_that_people_may_choose_and_their_questions() -> None:
    agents = Agents({"shop": [Agent("support", tools=[ask_user, find_order]), Agent("digest", listed=False)]})
    assert agents.names == {"support", "digest"}
    assert agents.listed == {"support"}
    assert agents.questions == {"ask_user"}


def test_importing_the_package_loads_nothing_else_until_a_word_is_asked_for() -> None:
    script = (
        "import sys, outlast; early = sorted(m for m in sys.modules if m.startswith('outlast.') or m == 'pydantic');"
        "from outlast import Agent; print(early, Agent.__module__)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "outlast.kernel.agents.agent"]


def test_a_word_that_the_package_does_not_have_cannot_be_imported() -> None:
    with pytest.raises(ImportError, match="Swarm"):
        from outlast import Swarm  # type: ignore[attr-defined]  # noqa: F401  # what is refused


def addition(*tools: Tool, text: str | None = "A text for all.") -> Addition:
    return Addition(tools=tools, text=lambda _context: text)


def prompt_of(agent: Agent, step_id: str | None = None) -> Prompt:
    context: Any = SimpleNamespace(run=SimpleNamespace(instructions="", step_id=step_id))
    return replace(agent, context=lambda _context: Conversation(())).prompt(context)


def test_an_addition_gives_every_listed_agent_its_text_and_tools() -> None:
    agents = Agents(
        {"shop": [Agent("support", instructions="Help.", tools=[find_order])]}, additions=[addition(ask_user)]
    )
    prompt = prompt_of(agents["support"])
    assert prompt.system == "Help.\n\nA text for all."
    assert [spec.name for spec in prompt.tools] == ["find_order", "ask_user"]
    assert agents["support"].tool("ask_user") is ask_user
    assert agents.questions == {"ask_user"}


def test_an_addition_without_a_text_for_a_run_withholds_its_tools() -> None:
    agents = Agents(
        {"shop": [Agent("support", instructions="Help.", tools=[find_order])]},
        additions=[addition(ask_user, text=None)],
    )
    prompt = prompt_of(agents["support"])
    assert (prompt.system, [spec.name for spec in prompt.tools]) == ("Help.", ["find_order"])


def test_unlisted_agents_and_those_that_say_so_take_no_addition() -> None:
    some = [Agent("digest", listed=False), Agent("plain", extends=False)]
    agents = Agents({"shop": some}, additions=[addition(ask_user)])
    assert [agents[name].specs for name in ("digest", "plain")] == [(), ()]


def test_an_agent_with_an_output_keeps_it_beside_an_addition() -> None:
    agents = Agents({"shop": [Agent("triage", output=Verdict)]}, additions=[addition(ask_user)])
    assert {spec.name for spec in agents["triage"].specs} == {"ask_user", "final_answer"}


def test_a_tool_that_an_app_adds_to_every_agent_has_a_name_of_its_own() -> None:
    with pytest.raises(StartRefused) as caught:
        Agents({"shop": [Agent("support", tools=[find_order])]}, additions=[addition(find_order)])
    assert "support" in caught.value.message


BILLING = Agent("night-billing", description="Pays money back.")


@pytest.mark.parametrize("handoffs", [[BILLING], ["night-billing"]])
def test_a_handoff_is_a_tool_that_says_who_goes_on_and_takes_a_reason(handoffs: Any) -> None:
    agents = Agents({"shop": [Agent("support", tools=[find_order], handoffs=handoffs), BILLING]})
    plain, transfer = agents["support"].specs
    assert (plain.name, transfer.name) == ("find_order", "transfer_to_night_billing")
    assert "the agent Night billing" in transfer.description
    assert "Pays money back." in transfer.description
    assert transfer.parameters["required"] == ["reason"]
    with pytest.raises(ArgumentsInvalid):
        agents["support"].tool("transfer_to_night_billing").check({"reason": ""})  # type: ignore[union-attr]


def test_agents_hand_over_to_each_other() -> None:
    agents = Agents({"shop": [Agent("one", handoffs=["two"]), Agent("two", handoffs=["one"])]})
    assert [agents[name].specs[0].name for name in ("one", "two")] == ["transfer_to_two", "transfer_to_one"]


def test_a_changed_copy_of_an_agent_with_handoffs_is_an_agent() -> None:
    support = replace(Agent("support", handoffs=[BILLING, "sales"], output=Verdict), tools=[find_order])
    assert [spec.name for spec in support.specs] == [
        "find_order", "final_answer", "transfer_to_night_billing", "transfer_to_sales",
    ]  # fmt: skip


def test_an_agent_cannot_hand_over_to_itself_nor_a_flow_to_anybody() -> None:
    with pytest.raises(ValueError, match="itself"):
        Agent("support", handoffs=["billing", "support"])
    with pytest.raises(ValueError, match="flow"):

        @flow("digest", handoffs=["billing"])
        async def digest(_ctx: Context) -> str:
            return ""


def test_a_handoff_to_an_agent_that_is_not_there_refuses_the_start_with_both_names() -> None:
    for missing in ("billing", Agent("billing")):
        with pytest.raises(StartRefused) as caught:
            Agents({}, {"agents/shop.py": [Agent("support", handoffs=[missing])]})
        assert "'support' of agents/shop.py" in caught.value.message
        assert "'billing'" in caught.value.message


@pytest.mark.apps("pages")
def test_a_handoff_to_an_agent_with_threads_of_its_own_refuses_the_start() -> None:
    with pytest.raises(StartRefused, match="threads of its own"):
        Agents({"pages": [Agent("page")]}, {"agents/shop.py": [Agent("support", handoffs=["page"])]})


def test_a_run_that_a_function_called_is_offered_no_handoff() -> None:
    support = Agent("support", tools=[find_order], handoffs=["billing"])
    assert [spec.name for spec in prompt_of(support).tools] == ["find_order", "transfer_to_billing"]
    assert [spec.name for spec in prompt_of(support, "fst_1").tools] == ["find_order"]


def test_an_agent_has_a_title_of_its_name_and_one_line_texts() -> None:
    assert Agent("night-desk").title == "Night desk"
    assert Agent("support", title="Support", icon="🛟").title == "Support"
    with pytest.raises(ValueError, match="title"):
        Agent("support", title="x" * 61)
    with pytest.raises(ValueError, match="description"):
        Agent("support", description="two\nlines")
    with pytest.raises(ValueError, match="icon"):
        Agent("support", icon="life-ring")


DEFINED = """
import sys, time
begun = time.process_time()
from outlast import Agent, Context, ToolResult, flow, mcp, tool
took_s = time.process_time() - begun

@tool
async def find_order(ctx: Context, order_id: str, most: int = 3) -> str:
    "Find an order."
    return order_id

expert = Agent("expert", instructions="You know bicycles.", tools=[find_order])
support = Agent("support", instructions="Help.", tools=[find_order, mcp.http("https://a.io/mcp")], agents=[expert])

@flow("digest")
async def digest(ctx: Context) -> str:
    return await ctx.run(support, "Hi")

heavy = ("pydantic", "anyio", "sqlalchemy", "fastapi", "starlette", "numpy", "httpx", "outlast.db")
print(took_s, [name for name in heavy if name in sys.modules])
"""


def defined() -> tuple[float, str]:
    """The seconds of CPU that the words take to load, and the heavy modules that their use has loaded."""
    done = subprocess.run([sys.executable, "-c", DEFINED], capture_output=True, text=True, check=True)
    took_s, _, heavy = done.stdout.strip().partition(" ")
    return float(took_s), heavy


def test_defining_agents_tools_and_flows_loads_neither_pydantic_nor_the_database_nor_the_http_server() -> None:
    assert defined()[1] == "[]"


def test_the_words_for_agents_are_loaded_in_a_moment() -> None:
    took_ms = 1_000 * min(defined()[0] for _ in range(3))
    print(f"from outlast import Agent, Context, …, flow, mcp, tool: {took_ms:.0f} ms of CPU, at most 60 promised")
    assert took_ms < SLACK * 60

"""Functions made into tools: what a model is shown of them, what they are called with, what it is told."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from outlast import Context, ToolResult, tool
from outlast.base.clock import SystemClock
from outlast.base.errors import ArgumentsInvalid
from outlast.kernel.runs.transcript import Run
from outlast.testing.agents import make_context

NOW = SystemClock().now()
RUN = Run(
    id="run_1",
    project_id="prj_1",
    thread_id="thr_1",
    workspace_id=None,
    profile="support",
    model="scripted",
    message_id="msg_1",
    parent_run_id=None,
    mode="start",
    started_by="usr_1",
    status="running",
    leg="held",
    attempt=1,
    seq_saved=0,
    seq_reserved=0,
    credits=0,
    cancel_reason=None,
    cancelled_by=None,
    created_at=NOW,
    started_at=NOW,
)
CONTEXT = make_context(RUN)


class Address(BaseModel):
    street: str
    number: int


@tool
async def find_order(ctx: Context, order_id: str, most: Annotated[int, Field(ge=1, le=5)] = 3) -> str:
    """Find an order
    by its number.

    - Numbers have eight digits.
    - Letters are refused.
    """
    ctx.show("looking…")
    return f"{ctx.effect_id} {order_id} {most}"


def test_a_model_is_shown_the_name_the_docstring_and_the_arguments_without_the_context() -> None:
    spec = find_order.spec
    assert spec.name == "find_order"
    assert spec.description == ("Find an order by its number.\n\n- Numbers have eight digits.\n- Letters are refused.")
    assert set(spec.parameters["properties"]) == {"order_id", "most"}
    assert spec.parameters["required"] == ["order_id"]
    assert spec.parameters["properties"]["most"] == {
        "default": 3,
        "maximum": 5,
        "minimum": 1,
        "title": "Most",
        "type": "integer",
    }
    assert spec.parameters["additionalProperties"] is False


async def test_a_call_gets_its_arguments_and_defaults_and_shows_what_it_says_meanwhile() -> None:
    shown: list[str] = []
    context = replace(CONTEXT, output=shown.append)
    result = await find_order.run(context, {"order_id": "12345678"})
    assert result == ToolResult("eff_1 12345678 3")
    assert shown == ["looking…"]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [({}, "order_id"), ({"order_id": "1", "most": 9}, "most"), ({"order_id": "1", "colour": "red"}, "colour")],
)
def test_arguments_that_do_not_fit_are_refused_with_the_field(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(ArgumentsInvalid) as caught:
        find_order.check(arguments)
    assert caught.value.fields["field"] == field
    assert "find_order" in caught.value.message


async def test_arguments_that_are_objects_arrive_as_what_the_types_say() -> None:
    @tool
    async def send(to: Address) -> str:
        """Send it."""
        return f"{type(to).__name__} {to.street} {to.number}"

    result = await send.run(CONTEXT, {"to": {"street": "Elm Street", "number": 5}})
    assert result.content == "Address Elm Street 5"


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ("a text", "a text"),
        ({"cents": [1, 2]}, '{"cents":[1,2]}'),
        (Address(street="Elm Street", number=5), '{"street":"Elm Street","number":5}'),
        (None, "null"),
    ],
)
async def test_a_model_is_told_a_text_as_it_is_and_anything_else_as_json(returned: Any, told: str) -> None:
    @tool
    async def give() -> Any:
        """Give it."""
        return returned

    assert await give.run(CONTEXT, {}) == ToolResult(told)


async def test_a_plain_function_runs_in_a_thread() -> None:
    @tool
    def where() -> int:
        """Say where."""
        return threading.get_ident()

    assert (await where.run(CONTEXT, {})).content != str(threading.get_ident())


def test_a_tool_may_have_another_name_and_a_reason_to_ask_a_person() -> None:
    @tool(name="pay_back", ask="Refunds need a person")
    async def refund(cents: int) -> str:
        """Pay money back."""
        return str(cents)

    assert (refund.name, refund.spec.name, refund.ask) == ("pay_back", "pay_back", "Refunds need a person")


def test_the_arguments_of_a_call_can_be_checked_beyond_their_types() -> None:
    def even(cents: int) -> None:
        if cents % 2:
            raise ArgumentsInvalid("Only even amounts.", field="cents")

    @tool(check=even)
    async def refund(cents: int) -> str:
        """Pay money back."""
        return str(cents)

    refund.check({"cents": 2})
    with pytest.raises(ArgumentsInvalid, match="Only even"):
        refund.check({"cents": 3})


def test_a_function_that_cannot_be_a_tool_is_refused_where_it_is_written() -> None:
    async def silent(order_id: str) -> str:
        return order_id

    async def untyped(order_id) -> str:
        """Find it."""
        return str(order_id)

    async def many(*orders: str) -> str:
        """Find them."""
        return " ".join(orders)

    with pytest.raises(TypeError, match="docstring"):
        tool(silent)
    with pytest.raises(TypeError, match="80 characters"):
        tool(name="x" * 81)(untyped)
    with pytest.raises(TypeError, match="order_id"):
        tool(untyped)
    with pytest.raises(TypeError, match="orders"):
        tool(many)

"""What design systems say is asked once for each style sheet, and never again of a sandbox that could not answer."""

from __future__ import annotations

from typing import Any, cast

import anyio

from outlast.apps.screens.design_systems import DesignSystems, Sheet, sheet_name
from outlast.base.errors import SandboxLost
from outlast_sandbox.interface import Command, CommandResult, Sandbox

TABLE = '<<outlast {"padding:16px": ["p-4"]} outlast>>'


class Answering:
    """Stands in for a sandbox: says one thing, and counts how often it was asked."""

    def __init__(self, *outputs: str | Exception, name: str = "sbx_1") -> None:
        self.sandbox_id = name
        self.outputs = list(outputs)
        self.asked: list[str] = []

    async def run(self, command: Command, on_output: Any = None) -> CommandResult:
        self.asked.append(command.script.partition("\n")[0])
        await anyio.lowlevel.checkpoint()
        output = self.outputs.pop(0) if len(self.outputs) > 1 else self.outputs[0]
        if isinstance(output, Exception):
            raise output
        return CommandResult(0, output, False, False, 0.1)

    async def acknowledge(self, effect_id: str) -> None:
        assert effect_id.startswith("eff_")


def sheet(sandbox: Answering | None, content: bytes = b"a", project: str = "prj_1") -> Sheet:
    return Sheet(sheet_name(project, content), cast("Sandbox", sandbox) if sandbox is not None else None)


async def test_several_who_need_a_table_at_once_ask_once_and_it_outlasts_the_sandbox() -> None:
    designs, sandbox = DesignSystems(), Answering(TABLE)
    found: list[Any] = []

    async def ask() -> None:
        found.append(await designs.table(sheet(sandbox)))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(ask)
    assert found == [{"padding:16px": "p-4"}] * 5
    assert len(sandbox.asked) == 1
    assert await designs.table(sheet(None)) == {"padding:16px": "p-4"}
    assert await designs.table(sheet(None, b"another")) is None


async def test_another_style_sheet_is_asked_about_anew() -> None:
    designs, sandbox = DesignSystems(), Answering(TABLE)
    await designs.table(sheet(sandbox))
    await designs.table(sheet(sandbox, b"b"))
    assert len(sandbox.asked) == 2


async def test_what_one_projects_sandbox_says_is_believed_in_no_other_project() -> None:
    designs = DesignSystems()
    forged = Answering('<<outlast {"padding:16px": ["bg-[url(//elsewhere)]"]} outlast>>')
    await designs.table(sheet(forged))
    honest = Answering(TABLE, name="sbx_2")
    assert await designs.table(sheet(honest, project="prj_2")) == {"padding:16px": "p-4"}


async def test_a_sandbox_that_does_not_answer_keeps_nobody_else_waiting() -> None:
    designs = DesignSystems()

    class Hanging(Answering):
        async def run(self, command: Command, on_output: Any = None) -> CommandResult:
            self.asked.append("")
            await anyio.sleep_forever()
            raise AssertionError

    hanging = Hanging("")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(designs.table, sheet(hanging))
        while not hanging.asked:
            await anyio.lowlevel.checkpoint()
        assert await designs.table(sheet(Answering(TABLE), b"b")) == {"padding:16px": "p-4"}
        tasks.cancel_scope.cancel()
    assert await designs.table(sheet(Answering(TABLE))) == {"padding:16px": "p-4"}


async def test_a_sandbox_that_could_not_answer_is_let_be_and_the_next_one_asked() -> None:
    designs, sandbox = DesignSystems(), Answering("sh: node: not found")
    assert await designs.table(sheet(sandbox)) is None
    assert await designs.table(sheet(sandbox)) is None
    assert len(sandbox.asked) == 1
    assert await designs.table(sheet(Answering(TABLE, name="sbx_2"))) == {"padding:16px": "p-4"}


async def test_a_sandbox_that_dies_meanwhile_costs_the_names_only() -> None:
    designs = DesignSystems()
    assert await designs.table(sheet(Answering(SandboxLost("gone")))) is None


async def test_single_classes_are_asked_about_once() -> None:
    designs = DesignSystems()
    said = '<<outlast {"p-4": [["padding", "16px"]], "nope": null} outlast>>'
    sandbox = Answering(said)
    wanted = ["p-4", "nope", 'p-4" onload="x']
    for _ in range(2):
        assert await designs.say(sheet(sandbox), wanted) == {
            "p-4": [("padding", "16px")],
            "nope": None,
            'p-4" onload="x': None,
        }
    assert len(sandbox.asked) == 1
    assert "onload" not in sandbox.asked[0]
    assert await designs.say(sheet(None, b"b"), ["p-4"]) == {}

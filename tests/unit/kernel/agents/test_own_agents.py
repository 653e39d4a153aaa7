"""Agents from a folder, from installed modules, and how broken code is refused."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from outlast.base.errors import StartRefused
from outlast.kernel.agents.own_agents import find_own_agents
from outlast.kernel.agents.registry import Agents
from outlast.kernel.agents.settings import AgentSettings

SUPPORT = "from outlast import Agent\nsupport = Agent('support')\n"
Write = Callable[..., AgentSettings]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write files of the folder `agents`, by name, and return settings that name it."""

    def written(**files: str) -> AgentSettings:
        folder = tmp_path / "agents"
        for name, text in files.items():
            file = folder / f"{name.replace('__', '/')}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return AgentSettings(str(folder))

    return written


def names_of(settings: AgentSettings) -> dict[str, list[str]]:
    return {place: [agent.name for agent in agents] for place, agents in find_own_agents(settings).items()}


def refused(settings: AgentSettings) -> StartRefused:
    with pytest.raises(StartRefused) as caught:
        find_own_agents(settings)
    return caught.value


def test_agents_of_all_files_are_found_by_their_file_and_files_import_each_other(write: Write) -> None:
    settings = write(
        shop="from outlast import Agent\nfrom ._tools import find\nsupport = Agent('support', tools=[find])\n",
        again="from .shop import support\nfrom outlast import Agent\nother = same = Agent('other')\n",
        _tools="from outlast import tool\n@tool\ndef find(order: str) -> str:\n    '''Find it.'''\n    return order\n",
    )
    (Path(settings.folder) / "desk").mkdir()
    (Path(settings.folder) / "desk" / "__init__.py").write_text("from outlast import Agent\ndesk = Agent('desk')\n")
    assert names_of(settings) == {
        "agents/again.py": ["support", "other"],
        "agents/desk/__init__.py": ["desk"],
        "agents/shop.py": [],
    }


def test_a_server_without_a_folder_has_no_agents_of_its_own(tmp_path: Path) -> None:
    assert names_of(AgentSettings()) == {}
    assert names_of(AgentSettings(str(tmp_path / "agents"))) == {}


def test_the_folder_is_imported_anew_each_time_and_leaves_no_compiled_files(write: Write) -> None:
    settings = write(shop=SUPPORT)
    first = find_own_agents(settings)["agents/shop.py"]
    assert names_of(write(shop=SUPPORT.replace("'support'", "'repairs'"))) == {"agents/shop.py": ["repairs"]}
    assert [agent.name for agent in first] == ["support"]
    assert [file.name for file in Path(settings.folder).iterdir()] == ["shop.py"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\ndef broken(:\n", "agents/shop.py:2: SyntaxError"),
        ("import json\njson.loads('{')\n", "agents/shop.py:2: JSONDecodeError"),
        ("\nfrom ._missing import refund\n", "agents/shop.py:2: ModuleNotFoundError"),
        ("from outlast import Agent\nAgent('Shop')\n", "agents/shop.py:2: ValueError: Invalid agent name"),
        ("raise SystemExit('bye')\n", "agents/shop.py:1: SystemExit: bye"),
    ],
)
def test_broken_code_is_refused_with_its_file_line_and_error(write: Write, text: str, words: str) -> None:
    before = set(sys.modules)
    refusal = refused(write(shop=text, first=SUPPORT))
    assert words in refusal.message
    assert refusal.__cause__ is not None
    assert [name for name in set(sys.modules) - before if name.startswith("outlast_own_agents")] == []


TOOL = """from outlast import Agent, tool

class Order: ...

@tool
def find({parameter}) -> str:
    "Find it."
    return ""

support = Agent("support", tools=[find])
"""


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ("order", "agents/shop.py:5: TypeError: The parameter order of the tool find has no type."),
        ("order: Missing", "agents/shop.py:6: NameError: name 'Missing' is not defined"),
        ("order: 'Missing'", "agents/shop.py:5: NameError: name 'Missing' is not defined"),
        ("order: Order", "agents/shop.py:5: PydanticSchemaGenerationError: Unable to generate"),
        ("_order: str", "agents/shop.py:5: TypeError: The parameter _order of the tool find needs a name"),
    ],
)
def test_an_error_in_the_signature_of_a_tool_is_refused_with_its_file_and_line(
    write: Write, parameter: str, words: str
) -> None:
    refusal = refused(write(shop=TOOL.format(parameter=parameter)))
    assert words in refusal.message
    assert refusal.__cause__ is not None


def test_an_error_in_the_signature_of_a_tool_in_a_module_is_refused_with_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "acme_orders.py").write_text(TOOL.format(parameter="order: Order"))
    refusal = refused(AgentSettings(modules=("acme_orders",)))
    assert "the module acme_orders: PydanticSchemaGenerationError" in refusal.message


def test_modules_that_are_installed_are_found_by_their_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "acme_agents.py").write_text(SUPPORT)
    assert names_of(AgentSettings(modules=("acme_agents",))) == {"the module acme_agents": ["support"]}
    assert "the module acme_missing: ModuleNotFoundError" in refused(AgentSettings(modules=("acme_missing",))).message


def test_a_name_that_is_taken_is_refused_with_both_places(write: Write) -> None:
    own = find_own_agents(write(a=SUPPORT, b=SUPPORT))
    with pytest.raises(StartRefused, match=re.escape("one of agents/a.py, one of agents/b.py")):
        Agents({}, own)
    with pytest.raises(StartRefused, match=re.escape("one of the app desk, one of agents/a.py")):
        Agents({"desk": own["agents/b.py"]}, {"agents/a.py": own["agents/a.py"]})


def test_one_tool_name_is_not_both_a_question_and_a_call(write: Write) -> None:
    text = (
        "from outlast import Agent, tool\n@tool(asks_person={asks})\ndef check(order: str) -> str:\n"
        "    '''Check it.'''\n    return order\n{name} = Agent('{name}', tools=[check])\n"
    )
    own = find_own_agents(write(a=text.format(asks=True, name="asks"), b=text.format(asks=False, name="calls")))
    with pytest.raises(StartRefused, match=re.escape("one of agents/a.py, one of agents/b.py")):
        Agents({}, own)


def test_replaced_agents_are_gone_from_the_sets_and_a_run_claimed_just_before_still_finds_its_own(write: Write) -> None:
    agents = Agents({}, find_own_agents(write(shop=SUPPORT)))
    agents.use(find_own_agents(write(shop=SUPPORT.replace("'support'", "'repairs'"))))
    assert agents.names == agents.listed == agents.own == {"repairs"}
    assert "support" not in agents
    assert agents["support"].name == "support"
    with pytest.raises(StartRefused):
        agents.use({"agents/a.py": [agents["repairs"]], "agents/b.py": [agents["repairs"]]})
    assert agents.names == {"repairs"}


GUEST = """
from pydantic_ai import Agent
from outlast import OutlastDurability
helper = Agent("test", name="helper")
desk = Agent("test", name="Bicycle Desk", description="Answers buyers.", capabilities=[OutlastDurability(icon="🚲")])
"""


def test_an_agent_of_pydantic_ai_with_the_capability_is_an_agent_of_the_server_once(write: Write) -> None:
    settings = write(shop=GUEST, again="from .shop import desk\n")
    found = find_own_agents(settings)
    (desk,) = [agent for agents in found.values() for agent in agents]
    assert (desk.name, desk.description, desk.icon) == ("bicycle-desk", "Answers buyers.", "🚲")
    assert (desk.title, desk.flow is not None, desk.sandbox) == ("Bicycle desk", True, False)


def test_an_agent_of_pydantic_ai_with_a_workspace_works_in_a_sandbox(write: Write) -> None:
    more = (
        "from outlast import OutlastWorkspace\ncoder = Agent('test', name='coder', capabilities=[OutlastDurability(), "
    )
    found = find_own_agents(write(shop=f"{GUEST}{more}OutlastWorkspace()])\n"))
    assert [agent.sandbox for agents in found.values() for agent in agents] == [False, True]


@pytest.mark.parametrize("line", ["from pydantic_ai import Agent", "from outlast import OutlastDurability"])
def test_without_pydantic_ai_the_start_is_refused_with_what_to_install(
    write: Write, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    for name in [name for name in sys.modules if name.startswith("outlast.kernel.agents.guests.pydantic_ai")]:
        monkeypatch.delitem(sys.modules, name)
    error = refused(write(shop=f"{line}\n"))
    assert error.message.startswith("Agents cannot be loaded from agents/shop.py:1: ModuleNotFoundError")
    assert error.hint == "Install what it needs: pip install 'outlast[pydantic-ai]'"


def test_an_agent_of_pydantic_ai_that_cannot_be_durable_is_refused_with_its_line(write: Write) -> None:
    error = refused(write(shop=GUEST.replace('name="Bicycle Desk", ', "")))
    assert "agents/shop.py:5: UserError: An agent needs to have a unique `name`" in error.message

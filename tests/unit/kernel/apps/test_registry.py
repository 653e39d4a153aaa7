"""Apps are joined once, and what two declare is refused with both names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

import outlast.apps
from outlast.apps import APPS
from outlast.apps.pages.subject import PAGE
from outlast.base.errors import InternalError, StartRefused
from outlast.base.events import EventType, Frozen
from outlast.base.ids import new_id
from outlast.kernel.apps import packages, registry
from outlast.kernel.apps.app import App
from outlast.kernel.apps.packages import app_commands
from outlast.kernel.apps.ports import Port
from outlast.kernel.apps.registry import join_apps, only
from outlast.kernel.settings import Settings, settings_class
from outlast.surfaces.http.api import all_routers

pytestmark = pytest.mark.apps("pages")  # an app to declare something

MODULE_THAT_TAKES_A_TABLE = """
import sqlalchemy as sa
from outlast.db.columns import metadata
from outlast.kernel.apps.app import App
from outlast.kernel.settings import settings_class

APP = App(name="greedy", tables=[sa.Table("{table}", metadata, sa.Column("id", sa.Integer))])
"""
ROUTES = """
from fastapi import APIRouter

router = APIRouter()
router.add_api_route("{path}", lambda: None, methods=["POST"])
"""


def _table(name: str) -> sa.Table:
    return sa.Table(name, sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True))


class Ballot(Frozen):
    """What an event of a test carries."""


GREETING: Port[str] = Port("greeting", "nobody greets")
TAKEN_TWICE = [
    ("tool 'vote'", App(name="polls", tools=["vote"]), App(name="votes", tools=["vote"])),
    (
        "event 'poll.closed'",
        App(name="polls", events=[EventType("PollClosedEvent", Ballot, "poll.closed")]),
        App(name="votes", events=[EventType("VoteClosedEvent", Ballot, "vote.closed", "poll.closed")]),
    ),
    (
        "schema of an event 'PollClosedEvent'",
        App(name="polls", events=[EventType("PollClosedEvent", Ballot, "poll.closed")]),
        App(name="votes", events=[EventType("PollClosedEvent", Ballot, "vote.closed")]),
    ),
    ("app", App(name="polls"), App(name="polls")),
    (
        "port 'greeting'",
        App(name="polls", implements=[GREETING.by("hello")]),
        App(name="votes", implements=[GREETING.by("welcome")]),
    ),
    ("port 'greeting'", App(name="polls", opens=[GREETING]), App(name="votes", implements=[GREETING.by("welcome")])),
    ("table 'ballots'", App(name="polls", tables=[_table("ballots")]), App(name="votes", tables=[_table("ballots")])),
    ("kind of id 'poll'", App(name="polls", prefixes={"poll": "pol"}), App(name="votes", prefixes={"poll": "vot"})),
    ("id prefix 'pol'", App(name="polls", prefixes={"poll": "pol"}), App(name="votes", prefixes={"vote": "pol"})),
    ("anchor type 'poll'", App(name="polls", anchors=["poll"]), App(name="votes", anchors=["poll"])),
    ("anchor type 'page'", App(name="polls", subjects=[PAGE]), App(name="votes", subjects=[replace(PAGE)])),
]


@pytest.mark.parametrize(("what", "one", "other"), TAKEN_TWICE, ids=[what for what, *_ in TAKEN_TWICE])
def test_what_two_apps_declare_is_refused_with_both_names(what: str, one: App, other: App) -> None:
    with pytest.raises(StartRefused, match=f"The {what}.* is declared by {one.name} and by {other.name}"):
        join_apps([one, other])


@pytest.mark.parametrize(
    ("what", "app"),
    [
        ("table 'runs'", App(name="polls", tables=[_table("runs")])),
        ("kind of id 'run'", App(name="polls", prefixes={"run": "rnn"})),
        ("id prefix 'run'", App(name="polls", prefixes={"race": "run"})),
        ("event 'run.queued'", App(name="polls", events=[EventType("PollEvent", Ballot, "run.queued")])),
    ],
)
def test_what_the_kernel_has_is_refused_to_an_app(what: str, app: App) -> None:
    with pytest.raises(StartRefused, match=f"The {what} is declared by the kernel and by polls"):
        join_apps([app])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder from which packages are imported; afterwards the apps are what they were."""
    monkeypatch.syspath_prepend(str(tmp_path))
    with only():
        yield tmp_path
    packages.declare(APPS)


def _package(folder: Path, name: str, **modules: str) -> str:
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("")
    for module, text in modules.items():
        (folder / name / f"{module}.py").write_text(text)
    return name


def test_a_route_that_two_apps_declare_is_refused_with_both_names(folder: Path) -> None:
    def app(name: str, path: str) -> App:
        text = ROUTES.format(path=path)
        return App(name=name, routes=[f"{_package(folder, f'{name}_app', routes=text)}.routes"])

    one, other, greedy = (
        app("polls", "/v1/polls"),
        app("votes", "/v1/polls"),
        app("greedy", "/v1/runs/{run_id}/cancel"),
    )
    with only(one, other), pytest.raises(StartRefused, match=r"The route 'POST /v1/polls' .* polls and by votes"):
        all_routers()
    taken = r"'POST /v1/runs/.*/cancel' is declared by the kernel and by greedy"
    with only(greedy), pytest.raises(StartRefused, match=taken):
        all_routers()


def test_a_command_that_two_apps_declare_is_refused_with_both_names(folder: Path) -> None:
    text = (
        "from outlast.kernel.cli.command_group import CommandGroup\n"
        "COMMANDS = (CommandGroup('polls', 'polls.commands', 'Polls'),)\n"
    )
    one, other = (_package(folder, name, __init__=text) for name in ("polls_one", "polls_two"))
    silent = _package(folder, "polls_silent")
    assert [group.name for group in app_commands([one, silent], ["runs"])] == ["polls"]
    with pytest.raises(StartRefused, match="The command 'polls' is declared by polls_one and by polls_two"):
        list(app_commands([one, other], []))
    with pytest.raises(StartRefused, match="The command 'polls' is declared by the kernel and by polls_one"):
        list(app_commands([one], ["polls"]))


@pytest.mark.parametrize(("table", "owner"), [("pages", "outlast.apps.pages"), ("runs", "the kernel")])
def test_a_table_of_settings_that_two_declare_is_refused_with_both_names(folder: Path, table: str, owner: str) -> None:
    text = f"from outlast.kernel.locks.settings import LockSettings\nSETTINGS = {{'{table}': LockSettings}}\n"
    greedy = _package(folder, f"settings_of_{table}", __init__=text)
    packages.declare([*APPS, greedy])
    with pytest.raises(StartRefused, match=f"The table of settings '{table}' is declared by {owner} and by {greedy}"):
        settings_class()


@pytest.mark.parametrize(("table", "owner"), [("pages", "pages"), ("runs", "the kernel")])
def test_a_table_that_the_import_of_an_app_finds_defined_is_refused_with_both_names(
    folder: Path, table: str, owner: str
) -> None:
    greedy = _package(folder, f"greedy_{table}", app=MODULE_THAT_TAKES_A_TABLE.format(table=table))
    packages.declare([*APPS, greedy])
    with pytest.raises(StartRefused, match=f"The table '{table}' is declared by {owner} and by {greedy}"):
        registry.load()


def test_apps_that_no_program_declared_are_not_taken_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its apps a server would collect the blobs that only their tables name."""
    monkeypatch.setattr(packages, "_declared", None)
    with pytest.raises(InternalError):
        registry.load()


def test_what_an_app_calls_tools_its_agents_have() -> None:
    """A tool that no app claims would be refused to none."""
    for app in registry.load().apps:
        agents = Path(outlast.apps.__file__).parent / app.name / "agent"
        text = "".join(path.read_text() for path in agents.glob("*.py"))
        assert [tool for tool in app.tools if f"def {tool}(" not in text] == []


def test_ids_of_an_apps_kind_have_its_prefix() -> None:
    with only(App(name="polls", prefixes={"poll": "pol"})):
        assert new_id("poll").startswith("pol_")
    with pytest.raises(KeyError):
        new_id("poll")


def test_a_port_is_answered_by_the_app_that_implements_it_and_else_as_it_says_itself() -> None:
    with only(App(name="polls"), App(name="votes", implements=[GREETING.by("hello")])):
        assert registry.implementation(GREETING) == "hello"
    with only(App(name="polls", uses=[GREETING])):
        assert registry.implementation(GREETING) == "nobody greets"


@pytest.mark.apps
def test_every_port_that_an_app_uses_is_implemented_by_another() -> None:
    apps = registry.load().apps
    implemented = {port: app.name for app in apps for port, _ in app.implements}
    assert [(app.name, port.name) for app in apps for port in app.uses if port not in implemented] == []
    assert [app.name for app in apps for port in app.uses if implemented.get(port) == app.name] == []


def test_what_apps_keep_in_memory_is_made_anew_for_each_server() -> None:
    with only(App(name="polls", state=lambda _settings: [bytearray(b"votes")])):
        one, other = registry.make_states(Settings()), registry.make_states(Settings())
        assert one[bytearray] == other[bytearray] == b"votes"
        assert one[bytearray] is not other[bytearray]


def test_after_a_test_the_apps_are_what_they_were() -> None:
    before = registry.load()
    polls = App(name="polls")
    with only(polls) as joined:
        assert joined.apps == (polls,)
    assert registry.load() is before


def test_commands_of_the_apps_are_groups_that_can_be_loaded() -> None:
    assert all(group.load().commands for group in app_commands(APPS, []))

"""SIGKILL in the middle of an agent of pydantic-ai: its run ends the same, with the same messages."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from contextlib import closing

import orjson
import pytest

from outlast.testing.model_server import ModelServer
from tests.crash import bank_chat, kills
from tests.crash.conftest import MakeServer
from tests.crash.guest_chat import ANSWER, EFFECTS
from tests.crash.kills import SEED_VARIABLE, Report
from tests.crash.server import CrashServer

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
MADE = ["first", "second", "third", "pay"]


def _check_effects(server: CrashServer, runs: int) -> None:
    """Each call of each run took effect, and again only for a kill: at most those that were open then."""
    taken = Counter((server.folder / EFFECTS).read_text().splitlines())
    assert Counter(line.split(" ")[1] for line in taken) == Counter(dict.fromkeys(MADE, runs))
    most = 2 * kills.MAX_WIDTH * (server.starts - 1)
    assert taken.total() - len(taken) <= most, f"calls were made again without a crash: {taken}"


async def _kill(make_server: MakeServer, model: ModelServer, at_points: int, at_times: int) -> Report:
    seed = kills.seed_of_this_run()
    print(f"{SEED_VARIABLE}={seed}")
    server = make_server("guest", guest="tests.crash.guest_chat", turns=[])
    async with kills.opened(server) as db:
        reference = await kills.undisturbed(server, db, model, {})
        answer = reference.outcome["messages"][-1]["parts"]
        made = [part["tool"] for part in answer if part["type"] == "tool_call"]
        assert made == ["note", "note_soon", "note_soon", "pay"]
        assert answer[-1]["text"].strip() == ANSWER
        names = [unit[0] for unit in reference.outcome["steps"]]
        assert "@messages 0" in names
        points = random.Random(seed).choices(kills.points_of(reference.commits), k=at_points)
        report = await kills.at_points(server, db, model, reference, [[point] for point in points])
        random_times = await kills.at_random_times(server, db, model, reference, range(seed, seed + at_times))
        problems = [*report.problems, *random_times.problems]
        assert not problems, "\n\n".join(problems)
        _check_effects(server, 1 + report.done + random_times.done)
        report.kills += random_times.kills
        return report


async def test_an_agent_of_pydantic_ai_that_is_killed_ends_the_same_with_the_same_messages(
    make_server: MakeServer, model: ModelServer
) -> None:
    assert (await _kill(make_server, model, 4, 1)).kills >= 4


@pytest.mark.deep
@pytest.mark.timeout(3600)
async def test_an_agent_of_pydantic_ai_that_is_killed_many_times_ends_the_same(
    make_server: MakeServer, model: ModelServer
) -> None:
    assert (await _kill(make_server, model, 30, 70)).kills >= 75


def _check_lookups(server: CrashServer, runs: int) -> None:
    """Each run looked at both balances, and again only for a kill: at most once for each that it was open in."""
    with closing(sqlite3.connect(server.folder / bank_chat.BANK)) as bank:
        taken = Counter(bank.execute("SELECT run_id, pending FROM lookups").fetchall())
    assert Counter(pending for _, pending in taken) == {0: runs, 1: runs}
    most = kills.MAX_WIDTH * (server.starts - 1)
    assert taken.total() - len(taken) <= most, f"calls were made again without a crash: {taken}"
    print(f"{runs} runs, {server.starts - 1} kills: {taken.total() - len(taken)} calls were made again")


async def _kill_bank(make_server: MakeServer, model: ModelServer, at_points: int, at_times: int) -> Report:
    seed = kills.seed_of_this_run()
    print(f"{SEED_VARIABLE}={seed}")
    server = make_server("bank", guest="tests.crash.bank_chat", turns=bank_chat.TURNS)
    async with kills.opened(server) as db:
        reference = await kills.undisturbed(server, db, model, {})
        answer = reference.outcome["messages"][-1]["parts"]
        made = [(part["tool"], part["result"]) for part in answer if part["type"] == "tool_call"]
        assert made[:2] == [("balance", "523.40"), ("balance", "511.40")]
        assert orjson.loads(answer[-1]["text"]) == bank_chat.ADVICE
        points = random.Random(seed).choices(kills.points_of(reference.commits), k=at_points)
        report = await kills.at_points(server, db, model, reference, [[point] for point in points])
        random_times = await kills.at_random_times(server, db, model, reference, range(seed, seed + at_times))
        problems = [*report.problems, *random_times.problems]
        assert not problems, "\n\n".join(problems)
        _check_lookups(server, 1 + report.done + random_times.done)
        print(f"at commits: {report}; at random times: {random_times}")
        report.kills += random_times.kills
        return report


@pytest.fixture
def of_openai(model: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' model server is what OpenAI's package finds."""
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model.base_url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "of-this-test")


@pytest.mark.usefixtures("of_openai")
async def test_an_example_agent_of_pydantic_ai_that_is_killed_gives_the_same_answer(
    make_server: MakeServer, model: ModelServer
) -> None:
    assert (await _kill_bank(make_server, model, 1, 1)).kills >= 1


@pytest.mark.deep
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("of_openai")
async def test_an_example_agent_of_pydantic_ai_that_is_killed_a_hundred_times_leaves_the_same_history(
    make_server: MakeServer, model: ModelServer
) -> None:
    assert (await _kill_bank(make_server, model, 45, 50)).kills >= 100

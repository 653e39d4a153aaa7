"""`python -m bench.peers --agno-python PATH [--rounds 3]`: what a killed server costs, beside Agno.

Each case has two servers on one PostgreSQL and one Redis, leases of 15 seconds, and a model server that counts its
requests. The server that works is killed with SIGKILL and stays away; what a client finds at the other one counts.
"""

import argparse
import asyncio
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import anyio
import httpx

from bench.model_server import ModelConnection, order
from bench.peers.contestants import LIMIT_S, Agno, Contestant, Node, Outlast, Place, two_nodes
from bench.servers import free_port
from outlast.testing.postgres import DURABLE, PostgresServer

TOKENS, RATE = 1_500, 20  # an answer of 75 seconds
EARLY = 20  # tokens after which the second server is started: the first one has the run
_TOKEN = re.compile(r"t(\d+)\.(\d+) ")  # when the model sent it (monotonic ns), and its number


class CountingModel(ModelConnection):
    """The benchmark's model server, whose requests are counted."""

    requests = 0

    def _answer(self, body: bytes) -> None:
        CountingModel.requests += 1
        super()._answer(body)


@dataclass(slots=True)
class Result:
    """Of one run: how it ended, what its answer lacks, and what the kill cost."""

    state: str = "running"
    is_whole: bool = False
    gap_s: float = 0.0
    effects: int = 0
    requests: int = 0
    numbers: list[int] = field(default_factory=list)  # of the tokens as a follower saw them
    sent_ns: int = 0  # when the model sent the newest of them


@dataclass(slots=True)
class Bench:
    """What a case uses."""

    contestant: Contestant
    nodes: list[Node]
    place: Place

    @asynccontextmanager
    async def client(self, number: int) -> AsyncIterator[httpx.AsyncClient]:
        async with httpx.AsyncClient(base_url=self.nodes[number].url, timeout=httpx.Timeout(20, read=60)) as client:
            yield client

    async def until(self, number: int, run: object, *states: str) -> tuple[str, str]:
        """The state and text of a run, once it is in one of these states, or after the time limit."""
        found = ("running", "")
        with anyio.move_on_after(LIMIT_S):
            while True:
                with suppress(httpx.HTTPError):
                    async with self.client(number) as client:
                        found = await self.contestant.state(client, run)
                if found[0] in states:
                    break
                await anyio.sleep(0.25)
        return found


async def _follow(
    bench: Bench, number: int, run: object, cursor: str, result: Result, tokens: int, since_ns: int = 0
) -> str:
    """Follow until so many tokens were seen, or one that the model sent after a moment, or the stream ends; returns
    the cursor."""
    async with bench.client(number) as client:
        with anyio.move_on_after(LIMIT_S):
            async for frame, after in bench.contestant.follow(client, run, cursor):
                cursor = after
                for sent, number_ in _TOKEN.findall(frame):
                    result.numbers.append(int(number_))
                    result.sent_ns = max(result.sent_ns, int(sent))
                if len(result.numbers) >= tokens or 0 < since_ns < result.sent_ns:
                    break
    return cursor


def _whole(text: str) -> bool:
    return [int(token) for _, token in _TOKEN.findall(text)] == list(range(TOKENS))


async def _begun(bench: Bench, agent: str, *, tool: bool) -> object:
    async with bench.client(0) as client:
        return await bench.contestant.start(client, agent, order(TOKENS, RATE, 0, tool))


async def _joined(bench: Bench, run: object, result: Result) -> str:
    """Follow at the first server, start the second one meanwhile, and follow a little more; returns the cursor."""
    cursor = await _follow(bench, 0, run, "", result, EARLY)
    await bench.nodes[1].start(bench.contestant.health)
    return await _follow(bench, 0, run, cursor, result, len(result.numbers) + 60)


async def _gap(bench: Bench, run: object, cursor: str, result: Result) -> str:
    """Measure the seconds until the other server shows text that the model sent after this moment; returns the
    cursor."""
    begun_ns = time.monotonic_ns()
    with anyio.move_on_after(LIMIT_S):
        while result.sent_ns <= begun_ns:
            with suppress(httpx.HTTPError):
                cursor = await _follow(bench, 1, run, cursor, result, sys.maxsize, begun_ns)
            await anyio.sleep(0.1)
    result.gap_s = (time.monotonic_ns() - begun_ns) / 1e9
    return cursor


async def _killed(bench: Bench, run: object, result: Result) -> None:
    cursor = await _joined(bench, run, result)
    bench.nodes[0].kill()
    await _gap(bench, run, cursor, result)
    await _ended(bench, run, result)


async def _ended(bench: Bench, run: object, result: Result) -> None:
    result.state, answer = await bench.until(1, run, "completed", "failed")
    result.is_whole = _whole(answer)


async def text(bench: Bench, result: Result) -> None:
    """The server dies in the middle of an answer."""
    await _killed(bench, await _begun(bench, "plain", tool=False), result)


async def tool(bench: Bench, result: Result) -> None:
    """The server dies in the middle of the answer that follows a tool's result."""
    await _killed(bench, await _begun(bench, "tools", tool=True), result)


async def approval(bench: Bench, result: Result) -> None:
    """The server dies while the run waits for a person, who then approves at the other one."""
    run = await _begun(bench, "asks", tool=True)
    await bench.until(0, run, "waiting")
    bench.nodes[0].kill()
    await bench.nodes[1].start(bench.contestant.health)
    await bench.until(1, run, "waiting")
    async with bench.client(1) as client:
        await bench.contestant.approve(client, run)
    await _ended(bench, run, result)


async def resume(bench: Bench, result: Result) -> None:
    """Nothing dies: a follower goes on at the other server, from its cursor."""
    run = await _begun(bench, "plain", tool=False)
    cursor = await _joined(bench, run, result)
    cursor = await _gap(bench, run, cursor, result)
    await _follow(bench, 1, run, cursor, result, TOKENS)
    await _ended(bench, run, result)
    result.is_whole = result.is_whole and result.numbers == list(range(TOKENS))


CASES: dict[str, Callable[[Bench, Result], Awaitable[None]]] = {
    case.__name__: case for case in (text, tool, approval, resume)
}


async def _measure(contestant: Contestant, name: str, model_port: int, databases: PostgresServer, redis: str) -> Result:
    with tempfile.TemporaryDirectory(prefix="bench-peers-") as path:
        folder = Path(path)
        database = f"peers_{time.monotonic_ns()}"
        await anyio.run_process(["psql", "-q", "-c", f"CREATE DATABASE {database}", databases.url("postgres")])
        effects = folder / "effects"
        effects.touch()
        place = Place(databases.url(database), redis, model_port, folder, effects)
        nodes = two_nodes(contestant, place)
        await nodes[0].start(contestant.health)
        result, CountingModel.requests = Result(), 0
        try:
            await CASES[name](Bench(contestant, nodes, place), result)
        finally:
            for node in nodes:
                node.kill()
        result.effects = len(effects.read_text().splitlines())
        result.requests = CountingModel.requests
        return result


@contextmanager
def _redis() -> Iterator[str]:
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        words = ["redis-server", "--port", str(port), "--save", "", "--dir", folder, "--bind", "127.0.0.1"]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        try:
            yield f"redis://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


async def main(agno: str, rounds: int, cases: list[str]) -> None:
    model_port = free_port()
    server = await asyncio.get_running_loop().create_server(CountingModel, "127.0.0.1", model_port)
    databases = PostgresServer(DURABLE)
    databases.start()
    contestants: list[Contestant] = [Outlast(), *([Agno(agno)] if agno else [])]
    print("| case | server | completed | answer whole | text again after, s | tool effects | model requests |")
    print("|---|---|---|---|---|---|---|")
    try:
        with _redis() as redis:
            for name in cases:
                for contestant in contestants:
                    results = [await _measure(contestant, name, model_port, databases, redis) for _ in range(rounds)]
                    completed = sum(result.state == "completed" for result in results)
                    whole = sum(result.is_whole for result in results)
                    gap = f"{median(result.gap_s for result in results):.1f}" if name != "approval" else "–"
                    effects = ", ".join(str(result.effects) for result in results)
                    requests = ", ".join(str(result.requests) for result in results)
                    print(
                        f"| {name} | {contestant.name} | {completed} of {rounds} | {whole} of {rounds} | {gap} "
                        f"| {effects} | {requests} |",
                        flush=True,
                    )
    finally:
        server.close()
        databases.remove()


if __name__ == "__main__":
    words = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    words.add_argument("--agno-python", default="", help="Python of an environment with agno, psycopg and redis")
    words.add_argument("--rounds", type=int, default=3)
    words.add_argument("cases", nargs="*", default=list(CASES), choices=[*CASES, []])
    given = words.parse_args()
    anyio.run(main, given.agno_python, given.rounds, given.cases)

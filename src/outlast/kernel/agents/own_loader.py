"""Loads the operator's agents into those of the server: at the start and, in `outlast dev`, when a file is saved."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from traceback import extract_tb, format_exception_only, format_list
from typing import Final

import anyio.to_thread

from outlast.base.clock import Clock
from outlast.base.errors import StartRefused
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.own_agents import find_own_agents
from outlast.kernel.agents.registry import Agents
from outlast.kernel.agents.settings import AgentSettings

LOOK_S: Final = 0.2
log = logging.getLogger("outlast.agents")


class OwnLoader:
    """Finds changes by the times of the files, which works in every container and on every file system."""

    def __init__(
        self,
        settings: AgentSettings,
        agents: Agents,
        clock: Clock,
        equip: Callable[[Agent], Agent] = lambda agent: agent,
        on_reload: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`equip` gives an agent the tools of this server; `on_reload` is called when files were loaded again."""
        self._equip, self._on_reload = equip, on_reload
        self._settings, self._agents, self._clock = settings, agents, clock
        self._folder = Path(settings.folder)
        self._seen: Mapping[Path, tuple[int, int]] = {}

    async def load(self) -> None:
        """Import the agents, and replace the earlier ones. If they cannot be imported, raises `StartRefused`, or with
        `agents.reload` keeps the earlier ones and reports the problem."""
        self._seen = await anyio.to_thread.run_sync(self._times)  # before: a file saved meanwhile is imported again
        try:
            self._agents.use(await anyio.to_thread.run_sync(self._find))
        except StartRefused as refused:
            if not self._settings.reload:
                raise
            self._agents.problem = self._text_of(refused)
            log.error("agents not loaded; those that were loaded before stay\n%s", self._agents.problem)
        else:
            log.info("agents loaded", extra={"agents": sorted(self._agents.own)})

    async def run(self) -> None:
        """Load the folder again when its files have changed and rest: an editor may write a file in several steps.
        Until cancelled."""
        before = self._seen
        while True:
            await self._clock.sleep(LOOK_S)
            times = await anyio.to_thread.run_sync(self._times)
            if times == before != self._seen:
                await self.load()
                if self._on_reload is not None:
                    await self._on_reload()
            before = times

    def _find(self) -> Mapping[str, Sequence[Agent]]:
        found = find_own_agents(self._settings)
        return {place: [self._equip(agent) for agent in agents] for place, agents in found.items()}

    def _times(self) -> Mapping[Path, tuple[int, int]]:
        """The time and size of each file. Those that vanish meanwhile are left out."""
        times: dict[Path, tuple[int, int]] = {}
        for file in self._folder.rglob("*.py") if self._settings.folder else ():
            try:
                stat = file.stat()
            except OSError:
                continue
            times[file] = (stat.st_mtime_ns, stat.st_size)
        return times

    def _text_of(self, refused: StartRefused) -> str:
        """The refusal and the traceback of its cause, with the lines and paths of the folder only."""
        cause = refused.__cause__
        lines = [refused.message]
        if cause is not None:
            frames = [
                frame for frame in extract_tb(cause.__traceback__) if self._folder in Path(frame.filename).parents
            ]
            lines += ["", *format_list(frames), *format_exception_only(cause)]
        return "\n".join(line.rstrip("\n") for line in lines).replace(f"{self._folder.parent}/", "")

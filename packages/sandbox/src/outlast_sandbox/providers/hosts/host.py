"""One host: its engine, whether it answers, and the check before anything on it is served."""

import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import anyio

from outlast_sandbox.clock import Clock
from outlast_sandbox.errors import HostUnreachable, SandboxUnavailable
from outlast_sandbox.providers.docker.address import TlsFiles, read_address
from outlast_sandbox.providers.docker.engine import Engine
from outlast_sandbox.providers.docker.plan import OWNER_LABEL, SANDBOX_LABEL
from outlast_sandbox.providers.setup import SandboxHost

from .plan import FENCE_LABEL, WORKSPACE_LABEL, volume_name
from .sandbox import HostSandbox, end_container

FIRST_PAUSE_S: Final = 5.0
LONGEST_PAUSE_S: Final = 300.0
LIVING: Final = ("running", "paused")

Fences = Callable[[Sequence[str]], Awaitable[Mapping[str, int]]]
"""The current fence of each of these workspaces; unknown ones are left out."""


@dataclass(frozen=True, slots=True)
class HostState:
    """What is known of a host: `problem` is why it does not answer ("" if it did at last), `retry_in_s` how long it
    gets no new sandboxes."""

    name: str
    address: str
    labels: tuple[str, ...]
    capacity: int
    problem: str = ""
    retry_in_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """A container on a host."""

    container: str
    sandbox_id: str
    workspace_id: str
    fence: int
    state: str
    created: float

    @staticmethod
    def of(entry: Mapping[str, Any]) -> "Found":
        """From the engine's list. A label that is no number counts as fence 0."""
        labels = entry.get("Labels") or {}
        fence = str(labels.get(FENCE_LABEL, "0"))
        number = int(fence) if fence.isascii() and fence.isdigit() else 0
        workspace, sandbox = str(labels.get(WORKSPACE_LABEL, "")), str(labels.get(SANDBOX_LABEL, ""))
        return Found(str(entry["Id"]), sandbox, workspace, number, str(entry.get("State")), float(entry["Created"]))

    @property
    def lives(self) -> bool:
        return self.state in LIVING


class Host:
    """In memory: since when it does not answer, and the handles on its sandboxes. After it did not answer, nothing on
    it is served before `admit` has looked at it again."""

    def __init__(self, config: SandboxHost, owner: str, clock: Clock) -> None:
        self.config = config
        setting = f"sandbox.hosts ({config.name}).url"
        address = read_address(config.url, TlsFiles(config.tls_ca, config.tls_cert, config.tls_key), setting)
        self.engine: Engine = _WatchedEngine(address, self)
        self.fences: Fences | None = None
        self.starting = 0  # sandboxes that are being created by this server
        self.handles: weakref.WeakSet[HostSandbox] = weakref.WeakSet()
        self._owner = owner
        self._clock = clock
        self._problem = ""
        self._failures = 0
        self._down_until = 0.0
        self._admitted = False
        self._admitting = anyio.Lock()
        self._unowned: set[str] = set()

    @property
    def name(self) -> str:
        return self.config.name

    def is_left_alone(self) -> bool:
        """True while it gets no new sandboxes, since it did not answer."""
        return self._clock.monotonic() < self._down_until

    def state(self) -> HostState:
        left_s = max(0.0, self._down_until - self._clock.monotonic())
        config = self.config
        where = str(self.engine.address)
        return HostState(config.name, where, config.labels, config.capacity, self._problem, left_s)

    def answered(self) -> None:
        self._failures, self._problem, self._down_until = 0, "", 0.0

    def did_not_answer(self, why: str) -> None:
        """Leave it alone for a while, longer each time, and close all streams to it: it may have been away from us and
        not from other servers, so its sandboxes may be old by now."""
        pause_s = min(FIRST_PAUSE_S * 2**self._failures, LONGEST_PAUSE_S)
        self._failures = min(self._failures + 1, 10)
        self._problem, self._down_until = why, self._clock.monotonic() + pause_s
        self._admitted = False
        for handle in list(self.handles):
            handle.drop_stream()

    async def admit(self) -> None:
        """Return once anything on it may be served: at first, and after it did not answer, what carries a lower fence
        than the one that `fences` names is ended before. Raises `HostUnreachable`, `SandboxUnavailable`."""
        if self._admitted:
            return
        async with self._admitting:
            await self._look_at_it()

    async def _look_at_it(self) -> None:
        if not self._admitted:
            if self.fences is not None:
                await self._end_outdated(self.fences)
            else:
                await self.engine.ping()
            self._admitted = True

    async def _end_outdated(self, fences: Fences) -> None:
        found = await self.find()
        current = await fences(sorted({one.workspace_id for one in found if one.workspace_id}))
        for one in found:
            if one.fence < current.get(one.workspace_id, 0):
                await end_container(self.engine, one.container, one.sandbox_id)

    async def kill_older(self, workspace_id: str, fence: int) -> list[str]:
        """End the workspace's sandboxes with a lower fence; returns their ids. Idempotent."""
        ended = [one for one in await self.find() if one.workspace_id == workspace_id and one.fence < fence]
        for one in ended:
            await end_container(self.engine, one.container, one.sandbox_id)
        return sorted(one.sandbox_id for one in ended)

    async def find(self) -> list[Found]:
        """All containers of this owner, whatever their state."""
        return [Found.of(entry) for entry in await self.engine.list(f"{OWNER_LABEL}={self._owner}")]

    async def sweep_volumes(self, known: set[str]) -> None:
        """Remove volumes that had no container at this call and the one before: their sandbox was being made or removed
        when its server died."""
        wanted = {volume_name(sandbox_id) for sandbox_id in known}
        names = {str(volume["Name"]) for volume in await self.engine.volumes(f"{OWNER_LABEL}={self._owner}")}
        unowned = names - wanted
        for name in unowned & self._unowned:
            await self.engine.remove_volume(name)
        self._unowned = unowned


class _WatchedEngine(Engine):
    """Tells its host of each answer and of each one that did not come."""

    def __init__(self, address: Any, host: Host) -> None:
        super().__init__(address)
        self._host = host

    async def _ask(self, *words: Any, **named: Any) -> Any:
        try:
            answer = await super()._ask(*words, **named)
        except SandboxUnavailable as error:
            self._host.did_not_answer(error.message)
            raise HostUnreachable(error.message, hint=error.hint, host=self._host.name) from error
        self._host.answered()
        return answer

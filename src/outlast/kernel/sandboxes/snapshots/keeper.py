"""Has snapshots built, the configured one and those of app templates, each once; returns the one that a sandbox starts
from; removes old ones."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

import anyio
import anyio.abc

from outlast.base.clock import Clock
from outlast.base.errors import Conflict, OutlastError, SandboxUnavailable
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.database import Database
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.shapes import SnapshotProgress
from outlast.kernel.sandboxes.snapshots import store
from outlast.kernel.sandboxes.snapshots.recipes import CONFIGURED, Recipes
from outlast.kernel.sandboxes.snapshots.rules import BuildState, Snapshot, must_build, to_collect, to_start_from
from outlast.kernel.sandboxes.snapshots.store import Place
from outlast.kernel.sandboxes.templates import Templates
from outlast.kernel.set_aside import kinds
from outlast_sandbox.interface import Progress, SandboxProvider, SnapshotRecipe

REPORT_EVERY_S: Final = 1.0  # each report is a write to the log of every waiting project
COLLECT_EVERY_S: Final = 3600.0
AFTER_ERROR_S: Final = 5.0
SHOWN_CHARS: Final = 2000
BARE: Final = ""
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
log = logging.getLogger("outlast.snapshots")


def _no_progress(_step: str, _output: str) -> None:
    return None


class SnapshotKeeper:
    """`run` builds and collects, in the server's task tree; `start_from` waits for it.

    In memory: the progress of the current build, the projects that wait for each snapshot, and the wanted ones.
    Finished snapshots are in the rows, also for a second process (`outlast snapshots build` while a server runs). A
    snapshot is named here by its app template, empty for the configured one.
    """

    def __init__(
        self,
        db: Database,
        provider: SandboxProvider,
        clock: Clock,
        settings: SandboxSettings,
        *,
        node_id: str,
        templates: Templates = MappingProxyType({}),
        env: Mapping[str, str] = _NONE,
        supervisor: Supervisor | None = None,
    ) -> None:
        """`env` is added to that of each app template. Raises `InvalidSetting` if the configured template is not a
        folder."""
        self._db, self._provider, self._clock, self._settings = db, provider, clock, settings
        self._place = Place(provider.name, node_id)
        self._supervisor = supervisor or Supervisor(clock)
        self._recipes = Recipes(provider, settings, templates, env)
        self._progress: tuple[str, str, str] | None = None  # snapshot being built, step, the end of its output
        self._reported_at = float("-inf")
        self._waiting: dict[str, Counter[str]] = {}  # by app template: the projects
        self._wanted: set[str] = {CONFIGURED}
        self._wish = anyio.Event()
        self._news = anyio.Event()
        self._building = anyio.Lock()
        self._listeners: list[Callable[[], None]] = []

    async def run(self) -> None:
        """Build the configured snapshot, then missing ones when they are needed; collect old ones. Until cancelled; the
        next server repeats a build that was cut short."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._supervisor.keep, "collection of snapshots", self._collect_now_and_then)
            at_start = True
            while True:
                for template in sorted(self._wanted):
                    name, build = template or "configured", partial(self._build_if_needed, at_start=at_start)
                    guard = self._supervisor.guard
                    done = await guard.attempt_now(kinds.SNAPSHOT, name, build, template)
                    if done or await guard.is_set_aside(kinds.SNAPSHOT, name):
                        self._wanted.discard(template)
                    else:
                        await self._clock.sleep(AFTER_ERROR_S)
                        self._wish.set()
                self._ring()
                await self._wish.wait()
                # Replaced after it was read: a request during a build is not lost.
                at_start, self._wish = False, anyio.Event()

    def want(self, template: str) -> None:
        """Have the snapshot of an app template built soon, if it is missing: it will be needed. Returns at once."""
        if template in self._recipes.templates:
            self._wanted.add(template)
            self._wish.set()

    def on_built(self, listener: Callable[[], None]) -> None:
        """Call `listener` after every built snapshot."""
        self._listeners.append(listener)

    async def ready_ref(self) -> str:
        """The ref of the configured snapshot, if it can be started from now; otherwise empty. Builds nothing."""
        recipe = await self.recipe()
        known = await self._db.read(store.find, self._place, recipe.name) if recipe is not None else None
        return known.ref if known is not None and known.state == BuildState.READY else ""

    async def start_from(
        self, sandbox_id: str, project_id: str, named: str | None = None, template: str = CONFIGURED
    ) -> str:
        """The ref of the snapshot that a new sandbox starts from, recorded with both; empty for the bare base.

        Waits for the running build and reports its progress to the project. `template` requests the snapshot of an app
        template instead of the configured one, `named` the one of this name. Raises `SandboxUnavailable` if it could
        not be built and there is no older one, `MalformedInput` (unknown template). A cancelled call does not stop the
        build.
        """
        known = await self._find_named(named) if named is not None else await self._built(template, project_id)
        if known is None:
            return BARE
        # Counts as used from now on: not collected.
        await self._db.write(store.start_from, self._place, known.name, sandbox_id)
        return known.ref

    async def build(self, progress: Progress = _no_progress, template: str = CONFIGURED) -> Snapshot | None:
        """Build the configured snapshot, or that of an app template, now, even if that failed a moment ago; None if
        nothing is to be installed. `progress` is called during the build. Raises `SandboxUnavailable` with the reason,
        `MalformedInput` (unknown template). A ready snapshot is not built again."""
        recipe = await self.recipe(template)
        if recipe is None:
            return None
        failure = await self._build(recipe, progress)
        if failure is not None:
            raise failure
        return await self._db.read(store.find, self._place, recipe.name)

    async def listed(self) -> tuple[list[Snapshot], str]:
        """(all recorded snapshots, newest first; the name of the configured one, or empty)."""
        recipe = await self.recipe()
        rows = await self._db.read(store.list_all, self._place)
        return rows, recipe.name if recipe else ""

    async def remove(self, name: str) -> bool:
        """Remove a snapshot. False if there is none. Raises `Conflict` while a living sandbox was started from it."""
        known = await self._db.read(store.find, self._place, name)
        if known is None:
            return False
        if known.ref:
            # First: after a kill here, `_usable` notices that its files are gone.
            await self._provider.remove_snapshot(known.ref)
        return await self._db.write(store.remove, self._place, name)

    async def collect(self) -> list[str]:
        """Remove those that no sandbox was started from for `snapshot_days`; the names of those removed."""
        recipe = await self.recipe()
        known = await self._db.read(store.list_all, self._place)
        old = to_collect(known, recipe.name if recipe else None, self._clock.now(), self._settings.snapshot_days)
        removed = []
        for one in old:
            try:
                await self.remove(one.name)
            except Conflict:  # a living sandbox uses its files
                continue
            removed.append(one.name)
            log.info("snapshot removed", extra={"snapshot": one.name})
        return removed

    async def recipe(self, template: str = CONFIGURED) -> SnapshotRecipe | None:
        """As `Recipes.of`."""
        return await self._recipes.of(template)

    # --- choosing -------------------------------------------------------------------------------------------------

    async def _find_named(self, name: str) -> Snapshot | None:
        known = await self._db.read(store.find, self._place, name)
        if known is None or known.state != BuildState.READY or not await self._provider.has_snapshot(known.ref):
            raise SandboxUnavailable(
                f"The snapshot {name} is not ready on this server.",
                hint="'outlast snapshots list' shows the ready ones.",
                snapshot=name,
            )
        return known

    async def _built(self, template: str, project_id: str) -> Snapshot | None:
        recipe = await self.recipe(template)
        if recipe is None:
            return None
        chosen = await self._choose(recipe, project_id)
        if chosen is not None:
            return chosen
        waiting = self._waiting.setdefault(recipe.name, Counter())
        waiting[project_id] += 1
        try:
            if self._progress is not None:
                await self._publish([project_id], self._event(recipe, BuildState.BUILDING))
            return await self._wait(recipe, template, project_id)
        finally:
            waiting[project_id] -= 1
            if not waiting[project_id]:  # several sandboxes of a project may wait
                del waiting[project_id]

    async def _wait(self, recipe: SnapshotRecipe, template: str, project_id: str) -> Snapshot:
        while True:
            news = self._news  # before the check: a build that ends meanwhile wakes us
            chosen = await self._choose(recipe, project_id)
            if chosen is not None:
                return chosen
            self._wanted.add(template)
            self._wish.set()
            await news.wait()

    async def _choose(self, recipe: SnapshotRecipe, project_id: str) -> Snapshot | None:
        """The ref to start from now, or None if it has to be built first."""
        known = await self._usable()
        own = next((one for one in known if one.name == recipe.name), None)
        if own is None or must_build(own, self._clock.now()):
            return None
        return own if own.state == BuildState.READY else await self._fall_back(recipe, known, own, project_id)

    async def _usable(self) -> list[Snapshot]:
        """All recorded snapshots; one that was removed from disk is forgotten, and built again when needed."""
        known = await self._db.read(store.list_all, self._place)
        kept = []
        for one in known:
            if one.state == BuildState.READY and not await self._provider.has_snapshot(one.ref):
                await self._db.write(store.forget, self._place, one.name)
            else:
                kept.append(one)
        return kept

    async def _fall_back(
        self, recipe: SnapshotRecipe, known: list[Snapshot], failed: Snapshot, project_id: str
    ) -> Snapshot:
        """An older one stays in use if the new one cannot be built."""
        older = to_start_from(known, recipe.name, failed.template)
        event = self._event(recipe, BuildState.FAILED, failed.error or "no reason is recorded", older is not None)
        await self._publish([project_id], event)
        if older is None:
            raise SandboxUnavailable(
                failed.error or f"The snapshot {recipe.name} could not be built.",
                hint=_hint(recipe),
                snapshot=recipe.name,
            )
        log.warning("started from an older snapshot", extra={"snapshot": older.name, "failed": recipe.name})
        return older

    # --- building -------------------------------------------------------------------------------------------------

    async def _build_if_needed(self, template: str, *, at_start: bool) -> None:
        """At a start a recently failed build is tried again too: the configuration may have been fixed."""
        recipe = await self.recipe(template)
        if recipe is None:
            return
        known = await self._db.read(store.find, self._place, recipe.name)
        if at_start or must_build(known, self._clock.now()):
            await self._build(recipe)

    async def _build(self, recipe: SnapshotRecipe, progress: Progress = _no_progress) -> OutlastError | None:
        async with self._building:  # one at a time: each may take 4 GiB and four processors
            # After a kill here, a snapshot in state `building` is built again.
            await self._db.write(store.begin, self._place, recipe)
            self._progress = recipe.name, "", ""
            try:
                async with anyio.create_task_group() as tasks:
                    failure = await self._build_reporting(recipe, tasks, progress)
                    tasks.cancel_scope.cancel()
            finally:
                self._progress = None
            if failure is None:  # each waiter reports a failure itself, with its fallback
                await self._publish(self._waiting_for(recipe), self._event(recipe, BuildState.READY))
                for listener in self._listeners:
                    listener()
            self._ring()
            return failure

    async def _build_reporting(
        self, recipe: SnapshotRecipe, tasks: anyio.abc.TaskGroup, progress: Progress
    ) -> OutlastError | None:
        news = anyio.Event()

        def on_progress(step: str, output: str) -> None:
            last_step, _ = self._reached(recipe)
            self._progress = recipe.name, step, output[-SHOWN_CHARS:]
            progress(step, output)
            now = self._clock.monotonic()
            if step != last_step or now - self._reported_at >= REPORT_EVERY_S:
                self._reported_at = now
                news.set()
            if step != last_step:
                log.info("building a snapshot", extra={"snapshot": recipe.name, "step": step})

        async def report() -> None:
            nonlocal news
            while True:
                await news.wait()
                news = anyio.Event()
                await self._publish(self._waiting_for(recipe), self._event(recipe, BuildState.BUILDING))

        tasks.start_soon(report)  # `on_progress` is called where nothing can be awaited
        try:
            built = await self._provider.build_snapshot(recipe, on_progress)
        except Exception as raised:  # the edge of an effect: a build must not stop the server
            error = raised if isinstance(raised, OutlastError) else _broken(recipe, raised)
            await self._db.write(store.fail, self._place, recipe.name, error.message)
            log.warning("snapshot not built", extra={"snapshot": recipe.name, "reason": error.message})
            return error
        # After a kill before this it is built again, which finds it at once.
        await self._db.write(store.finish, self._place, recipe.name, built.ref, built.size_bytes)
        log.info("snapshot ready", extra={"snapshot": recipe.name, "size_bytes": built.size_bytes})
        return None

    async def _collect_now_and_then(self) -> None:
        while True:
            try:
                await self.collect()
            except OutlastError as error:
                log.warning("snapshots not collected", extra={"code": error.code, "reason": error.message})
            await self._clock.sleep(COLLECT_EVERY_S)

    # --- reporting --------------------------------------------------------------------------------------------------

    def _event(
        self, recipe: SnapshotRecipe, state: BuildState, error: str | None = None, older: bool = False
    ) -> SnapshotProgress:
        step, output = self._reached(recipe)
        return SnapshotProgress(
            name=recipe.name,
            state=state.value,
            step=step,
            output=output,
            error=error,
            older=older,
            template=recipe.project.template if recipe.project is not None else "",
        )

    def _reached(self, recipe: SnapshotRecipe) -> tuple[str, str]:
        """(step, output) of the build of this recipe; empty while it does not run."""
        name, step, output = self._progress or ("", "", "")
        return (step, output) if name == recipe.name else ("", "")

    def _waiting_for(self, recipe: SnapshotRecipe) -> list[str]:
        return list(self._waiting.get(recipe.name, ()))

    async def _publish(self, projects: list[str], data: SnapshotProgress) -> None:
        for project_id in projects:
            await self._db.write(store.tell, project_id, data)

    def _ring(self) -> None:
        self._news.set()
        self._news = anyio.Event()


def _broken(recipe: SnapshotRecipe, error: Exception) -> SandboxUnavailable:
    """An unexpected failure, such as a full disk under the cache directory."""
    log.error("snapshot build crashed", extra={"snapshot": recipe.name}, exc_info=error)
    return SandboxUnavailable(
        f"the snapshot {recipe.name} could not be built: {type(error).__name__}: {error}",
        hint="See the server's log for details.",
        snapshot=recipe.name,
    )


def _hint(recipe: SnapshotRecipe) -> str:
    if recipe.project is not None:
        build = f"outlast snapshots build --template {recipe.project.template}"
        return f"Check that this machine can reach npm's package index; then run '{build}', or wait 5 minutes."
    return "Correct [[sandbox.dependencies]] or sandbox.setup; then run 'outlast snapshots build'."

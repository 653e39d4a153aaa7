"""The design systems of screens, queried in their sandboxes and cached."""

import hashlib
import logging
from collections import OrderedDict
from typing import Final

import anyio
import anyio.to_thread

from outlast.apps.screens.edits import design_system
from outlast.apps.screens.edits.design_system import Said
from outlast.apps.screens.edits.styles import Table
from outlast.base.errors import OutlastError
from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast_sandbox.interface import Command, Sandbox

MAX_TABLES: Final = 24  # about a megabyte each
MAX_CLASSES: Final = 5_000
PATIENCE_S: Final = 30.0
AGAIN_AFTER_S: Final = 60.0
log = logging.getLogger("outlast.screens")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A screen's style sheet, which makes its design system; `sandbox` runs its app (None if asleep). `name` as of
    `sheet_name`."""

    name: str
    sandbox: Sandbox | None


class DesignSystems:
    """An in-memory cache: by style sheet, the class for each declaration, and the CSS of single classes; queried again
    when evicted. A sandbox that could not answer is not queried about the same sheet again for a minute."""

    def __init__(self) -> None:
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._said: OrderedDict[tuple[str, str], list[tuple[str, str]] | None] = OrderedDict()
        self._failed: dict[tuple[str, str], float] = {}
        self._asking: dict[str, anyio.Lock] = {}  # by sheet: a hanging sandbox does not block others

    async def table(self, sheet: Sheet) -> Table | None:
        """The class for each declaration, or None if it is unknown now. Takes a second or two for a new sheet; a
        cancelled call leaves nothing behind."""
        known = self._tables.get(sheet.name)
        if known is not None or sheet.sandbox is None:
            return known
        asking = self._asking.setdefault(sheet.name, anyio.Lock())
        try:
            async with asking:  # concurrent callers for one sheet share a query
                if sheet.name not in self._tables:
                    await self._learn(sheet, sheet.sandbox)
        finally:
            if not asking.locked():
                self._asking.pop(sheet.name, None)
        return self._tables.get(sheet.name)

    async def say(self, sheet: Sheet, classes: list[str]) -> Said:
        """The CSS of these classes; unknown ones are left out."""
        usable = [one for one in dict.fromkeys(classes) if design_system.is_class(one)]
        unknown = [one for one in usable if (sheet.name, one) not in self._said]
        if unknown and sheet.sandbox is not None:
            output = await self._ask(sheet, sheet.sandbox, design_system.classes_command(unknown))
            for name, declarations in (design_system.read_classes(output, unknown) or {}).items():
                self._said[sheet.name, name] = declarations
            while len(self._said) > MAX_CLASSES:
                self._said.popitem(last=False)
        known = {one: self._said[sheet.name, one] for one in usable if (sheet.name, one) in self._said}
        return known | {one: None for one in classes if not design_system.is_class(one)}

    async def _learn(self, sheet: Sheet, sandbox: Sandbox) -> None:
        output = await self._ask(sheet, sandbox, design_system.table_command())
        table = await anyio.to_thread.run_sync(design_system.read_table, output)
        if table:
            self._tables[sheet.name] = table
            while len(self._tables) > MAX_TABLES:
                self._tables.popitem(last=False)
        else:
            self._failed = {(sandbox.sandbox_id, sheet.name): anyio.current_time(), **self._lately()}

    async def _ask(self, sheet: Sheet, sandbox: Sandbox, script: str) -> str:
        """The output of the project's Tailwind; empty if it does not answer."""
        if (sandbox.sandbox_id, sheet.name) in self._lately():
            return ""
        limit = design_system.OUTPUT_BYTES
        command = Command(new_id("effect"), 1, script, timeout_s=PATIENCE_S, output_limit_bytes=limit)
        try:
            result = await sandbox.run(command)
            await sandbox.acknowledge(command.effect_id)
        except OutlastError as error:
            log.info("design system not asked", extra={"code": error.code})
            return ""
        if result.exit_code != 0:
            log.info("design system did not answer", extra={"exit_code": result.exit_code})
        return result.output

    def _lately(self) -> dict[tuple[str, str], float]:
        """The queries that failed a moment ago."""
        since = anyio.current_time() - AGAIN_AFTER_S
        return {key: when for key, when in self._failed.items() if when > since}


def sheet_name(project_id: str, content: bytes) -> str:
    """The cache key of a style sheet's design system. It includes the project: a sandbox may answer anything, and
    its answers must not reach the files of another project."""
    return hashlib.sha256(project_id.encode() + b"\0" + content).hexdigest()
